// Which instruction sets there are and which one is in use.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include "engine/kernels/kernels.h"

namespace slide::kernels {
namespace {

TEST(Dispatch, ScalarIsAlwaysThereAndFirst) {
  ASSERT_FALSE(available().empty());
  EXPECT_STREQ(available().front()->name, "scalar");
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

TEST(Dispatch, TheActiveSetIsTheFastestOrTheOneAskedFor) {
  const char* wish = std::getenv("SLIDE_SIMD");
  const KernelSet* want = wish != nullptr && *wish != '\0' ? find(wish) : available().back();
  if (want == nullptr) GTEST_SKIP() << "SLIDE_SIMD asks for a set this machine lacks";
  EXPECT_EQ(&active(), want);
  EXPECT_EQ(&active(), &active());
}

TEST(Dispatch, NoSetLacksAKernel) {
  for (const KernelSet* set : available()) {
    EXPECT_TRUE(set->rows_forward_bf16 && set->gather_rows_bf16 && set->sgd_row_bf16 && set->add_dots_bf16);
    EXPECT_TRUE(set->rows_forward && set->rows_backward_input && set->rows_gradient && set->gather_rows);
    EXPECT_TRUE(set->dot && set->axpy && set->transpose && set->select_above && set->pack_signs);
    EXPECT_TRUE(set->round_small != nullptr);
    EXPECT_TRUE(set->softmax_lanes && set->logistic_loss && set->relu && set->sigmoid && set->tanh);
    EXPECT_TRUE(set->relu_backward && set->sigmoid_backward && set->tanh_backward);
    EXPECT_TRUE(set->sgd_row && set->momentum_row && set->adagrad_row && set->adam_row);
  }
}

}  // namespace
}  // namespace slide::kernels
