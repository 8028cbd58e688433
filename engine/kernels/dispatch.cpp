// Chooses the kernel set at run time.
#include <cstdlib>
#include <string>

#include "engine/base/error.h"
#include "engine/kernels/kernels.h"

namespace slide::kernels {

extern const KernelSet kScalarKernels;
#if defined(SLIDE_X86)
extern const KernelSet kAvx2Kernels;
extern const KernelSet kAvx512Kernels;
#elif defined(SLIDE_NEON)
extern const KernelSet kNeonKernels;
#endif

std::vector<const KernelSet*> available() {
  std::vector<const KernelSet*> sets{&kScalarKernels};
#if defined(SLIDE_X86)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) sets.push_back(&kAvx2Kernels);
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) {
    sets.push_back(&kAvx512Kernels);
  }
#elif defined(SLIDE_NEON)
  sets.push_back(&kNeonKernels);
#endif
  return sets;
}

const KernelSet* find(std::string_view name) {
  for (const KernelSet* set : available()) {
    if (name == set->name) return set;
  }
  return nullptr;
}

namespace {

const KernelSet& choose() {
  const char* wish = std::getenv("SLIDE_SIMD");
  if (wish == nullptr || *wish == '\0') return *available().back();
  if (const KernelSet* set = find(wish)) return *set;
  std::string names;
  for (const KernelSet* set : available()) names += (names.empty() ? "" : ", ") + std::string(set->name);
  fail_input("SLIDE_SIMD={}: no such instruction set here; this machine runs {}", wish, names);
}

}  // namespace

const KernelSet& active() {
  static const KernelSet& set = choose();
  return set;
}

}  // namespace slide::kernels
