// Selects the kernel set at run time.
#if defined(SLIDE_X86)
#include <cpuid.h>
#if defined(SLIDE_BF16) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(SLIDE_NEON_DOTS) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include <cstdlib>
#include <string>
#include <type_traits>

#include "engine/base/error.h"
#include "engine/kernels/kernels.h"

namespace slide::kernels {

using RowsForwardInt8 = decltype(KernelSet::rows_forward_int8);
using RowsForwardBf16 = decltype(KernelSet::rows_forward_bf16);

namespace {

// A copy of `base` with another int8 product (with_bf16: another bfloat16 product) and its own name.
[[maybe_unused]] KernelSet with_int8(const KernelSet& base, const char* name,
                                     RowsForwardInt8 rows_forward_int8) {
  KernelSet set = base;
  set.name = name;
  set.fast_int8 = true;
  set.rows_forward_int8 = rows_forward_int8;
  return set;
}

[[maybe_unused]] KernelSet with_bf16(const KernelSet& base, const char* name, bool fast,
                                     RowsForwardBf16 rows_forward_bf16) {
  KernelSet set = base;
  set.name = name;
  set.fast_bf16 = fast;
  set.rows_forward_bf16 = rows_forward_bf16;
  return set;
}

}  // namespace

extern const KernelSet kScalarKernels;
#if defined(SLIDE_X86)
extern const KernelSet kAvx2Kernels;
extern const KernelSet kAvx512Kernels;
std::remove_pointer_t<RowsForwardInt8> rows_forward_int8_dots;
#if defined(SLIDE_BF16)
std::remove_pointer_t<RowsForwardBf16> rows_forward_bf16_dots, rows_forward_bf16_tiles;
#endif

namespace {

// Bit `bit` of register `which` (0 to 3: eax, ebx, ecx, edx) of cpuid leaf 7.
bool cpu_has(unsigned subleaf, int which, int bit) {
  unsigned r[4] = {};
  return __get_cpuid_count(7, subleaf, &r[0], &r[1], &r[2], &r[3]) != 0 && (r[which] >> bit & 1u) != 0;
}
bool has_avx512_vnni() {
  return cpu_has(0, 2, 11);
}

#if defined(SLIDE_BF16)
bool has_avx512_bf16() {
  return cpu_has(1, 0, 5);
}
bool has_avx512_fp16() {
  return cpu_has(0, 3, 23);
}
bool has_amx() {
  return cpu_has(0, 3, 22) && cpu_has(0, 3, 24);  // amx_bf16, amx_tile
}

// AMX tiles are 8 KB of registers that a process must request from the operating system.
bool may_use_tiles() {
#if defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // of arch_prctl(2), Linux 5.16
  static const bool may = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return may;
#else
  return false;
#endif
}

// Appends the sets derived from `base`, the last one, on machines with bfloat16 arithmetic.
void add_bf16_sets(const KernelSet& base, std::vector<const KernelSet*>& sets) {
  if (!has_avx512_bf16()) return;
  // Dot products have twice the rate of fp32 on Zen 4 (iree-org/iree, pull request 15089), but half of it on
  // Intel cores since Sapphire Rapids, which are recognised by fp16 arithmetic and have tiles.
  const bool slow_dots = has_avx512_fp16();
  static const KernelSet dots = with_bf16(base, "avx512_bf16", !slow_dots, rows_forward_bf16_dots);
  static const KernelSet tiles = [&] {
    KernelSet set = with_bf16(base, "amx", true, rows_forward_bf16_tiles);
    set.fast_int8 = false;  // bfloat16 tiles have four times the rate of int8 dot products
    return set;
  }();
  sets.insert(slow_dots ? sets.end() - 1 : sets.end(), &dots);
  if (has_amx() && may_use_tiles()) sets.push_back(&tiles);
}
#endif

}  // namespace
#elif defined(SLIDE_NEON)
extern const KernelSet kNeonKernels;
#if defined(SLIDE_NEON_DOTS)
std::remove_pointer_t<RowsForwardInt8> rows_forward_int8_dots, rows_forward_int8_mixed_dots;
std::remove_pointer_t<RowsForwardBf16> rows_forward_bf16_dots;

namespace {

// Bit `bit` of the first or the second word in which Linux describes the processor; elsewhere nothing is
// known.
bool cpu_has([[maybe_unused]] bool second, [[maybe_unused]] int bit) {
#if defined(__linux__)
  return (getauxval(second ? AT_HWCAP2 : AT_HWCAP) >> bit & 1u) != 0;
#else
  return false;
#endif
}

// Appends the sets derived from neon, on processors with products of bytes and of bfloat16. Those that have
// i8mm have asimddp; a dot product has the rate of a fused multiply-add of fp32 (Neoverse V1 and N2, software
// optimization guides).
void add_dot_sets(std::vector<const KernelSet*>& sets) {
  static const KernelSet dot = with_int8(kNeonKernels, "neon_dotprod", rows_forward_int8_dots);
  static const KernelSet i8mm = with_int8(kNeonKernels, "neon_i8mm", rows_forward_int8_mixed_dots);
  if (cpu_has(false, 20)) sets.push_back(&dot);  // asimddp
  if (cpu_has(true, 13)) sets.push_back(&i8mm);
  static const KernelSet bf16 = with_bf16(*sets.back(), "neon_bf16", true, rows_forward_bf16_dots);
  if (cpu_has(true, 14)) sets.push_back(&bf16);
}

}  // namespace
#endif
#endif

// In ascending order of speed: the last set is the default of active().
std::vector<const KernelSet*> available() {
  std::vector<const KernelSet*> sets{&kScalarKernels};
#if defined(SLIDE_X86)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (avx2) sets.push_back(&kAvx2Kernels);
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) {
    static const KernelSet avx512 = [] {
      KernelSet set = kAvx512Kernels;
      set.rows_forward_int8 = kAvx2Kernels.rows_forward_int8;  // products of 16 bits
      return set;
    }();
    sets.push_back(&avx512);
    static const KernelSet int8 = with_int8(avx512, "avx512_vnni", rows_forward_int8_dots);
    if (has_avx512_vnni()) sets.push_back(&int8);
#if defined(SLIDE_BF16)
    add_bf16_sets(*sets.back(), sets);
#endif
  }
#elif defined(SLIDE_NEON)
  sets.push_back(&kNeonKernels);
#if defined(SLIDE_NEON_DOTS)
  add_dot_sets(sets);
#endif
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
