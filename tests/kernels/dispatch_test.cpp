// Tests of the available instruction sets and the active one.
#include <gtest/gtest.h>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "engine/kernels/kernels.h"

namespace slide::kernels {
namespace {

TEST(Dispatch, ScalarIsAlwaysThereAndFirst) {
  ASSERT_FALSE(available().empty());
  EXPECT_STREQ(available().front()->name, "scalar");
}

// Tests under every instruction set are registered by these names (tests/CMakeLists.txt).
TEST(Dispatch, TheBuildKnowsEverySet) {
  std::istringstream names(SLIDE_INSTRUCTION_SETS);
  const std::set<std::string> known{std::istream_iterator<std::string>(names), {}};
  for (const KernelSet* set : available()) EXPECT_TRUE(known.contains(set->name)) << set->name;
}

TEST(Dispatch, EverySetIsFoundByItsOwnName) {
  std::set<std::string> names;
  for (const KernelSet* set : available()) {
    EXPECT_EQ(find(set->name), set);
    EXPECT_TRUE(names.insert(set->name).second) << set->name;
  }
}

TEST(Dispatch, NamesOutsideTheListAreNotFound) {
  for (const char* name : {"", "AVX2", "avx", "avx512f", "scalar ", "sse9"})
    EXPECT_EQ(find(name), nullptr) << name;
}

#if defined(__x86_64__)
TEST(Dispatch, X86NamesFollowTheProcessor) {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  EXPECT_EQ(find("avx2") != nullptr, avx2);
  if (!__builtin_cpu_supports("avx512f")) {
    EXPECT_EQ(find("avx512"), nullptr);
  }
  if (find("avx512") == nullptr) {
    EXPECT_EQ(find("avx512_bf16"), nullptr);
  }
  if (find("avx512_bf16") == nullptr) {
    EXPECT_EQ(find("amx"), nullptr);
  }
}
#endif

#if defined(__aarch64__) && defined(__linux__)
TEST(Dispatch, ArmNamesFollowTheProcessor) {
  EXPECT_NE(find("neon"), nullptr);
  EXPECT_EQ(find("neon_dotprod") != nullptr, (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0);
  EXPECT_EQ(find("neon_i8mm") != nullptr, (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0);
  EXPECT_EQ(find("neon_bf16") != nullptr, (getauxval(AT_HWCAP2) & HWCAP2_BF16) != 0);
}

// CTest names the last set of the processor that it emulates.
TEST(Dispatch, TheEmulatedProcessorHasItsSets) {
  const char* last = std::getenv("SLIDE_LAST_SET");
  if (last == nullptr) GTEST_SKIP() << "SLIDE_LAST_SET is not set";
  EXPECT_STREQ(available().back()->name, last);
}
#endif

TEST(Dispatch, TheActiveSetIsTheFastestOrTheRequestedOne) {
  const char* wish = std::getenv("SLIDE_SIMD");
  const KernelSet* want = wish != nullptr && *wish != '\0' ? find(wish) : available().back();
  if (want == nullptr) GTEST_SKIP() << "SLIDE_SIMD asks for a set this machine lacks";
  EXPECT_EQ(&active(), want);
  EXPECT_EQ(&active(), &active());
}

// Everything from the first kernel on is kernel pointers, read here as such without a list of their names.
TEST(Dispatch, NoSetLacksAKernel) {
  constexpr std::size_t kFirst = offsetof(KernelSet, rows_forward);
  using Pointer = void (*)();
  static_assert((sizeof(KernelSet) - kFirst) % sizeof(Pointer) == 0);
  std::array<Pointer, (sizeof(KernelSet) - kFirst) / sizeof(Pointer)> kernels;
  for (const KernelSet* set : available()) {
    std::memcpy(kernels.data(), reinterpret_cast<const char*>(set) + kFirst, sizeof kernels);
    for (std::size_t i = 0; i < kernels.size(); ++i)
      EXPECT_NE(kernels[i], nullptr) << "kernel " << i << " of " << set->name;
    std::sort(kernels.begin(), kernels.end(), std::less<>());
    EXPECT_EQ(std::unique(kernels.begin(), kernels.end()), kernels.end())
        << set->name << ": one stands twice";
  }
}

}  // namespace
}  // namespace slide::kernels
