// Tests of cache-line aligned arrays, small (heap) and large (mapped).
#include "engine/base/aligned.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace slide {
namespace {

bool is_aligned(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % kAlignment == 0;
}

TEST(Aligned, RoundUp) {
  EXPECT_EQ(round_up(0, 16), 0u);
  EXPECT_EQ(round_up(1, 16), 16u);
  EXPECT_EQ(round_up(16, 16), 16u);
  EXPECT_EQ(round_up(17, 16), 32u);
}

TEST(Aligned, ArraysAreAlignedZeroAndWritableAtEverySize) {
  for (const std::size_t size :
       {1, 2, 15, 16, 17, 1000, 32'767, 32'768, 32'769, 524'287, 524'288, 524'289, 3'000'000}) {
    AlignedArray<float> array(size);
    ASSERT_TRUE(is_aligned(array.data())) << size;
    ASSERT_EQ(array.size(), size);
    ASSERT_EQ(array.bytes(), size * sizeof(float));
    bool zero = true;
    for (const float value : array) zero = zero && value == 0.0f;
    ASSERT_TRUE(zero) << size;
    array[0] = 1.0f;
    array[size - 1] = 2.0f;
    ASSERT_EQ(array.span().back(), 2.0f);
  }
}

TEST(Aligned, EmptyArraysOwnNothing) {
  const AlignedArray<float> none, zero(0);
  EXPECT_TRUE(none.empty() && zero.empty());
  EXPECT_EQ(zero.data(), nullptr);
  EXPECT_EQ(zero.begin(), zero.end());
}

TEST(Aligned, MovingHandsTheMemoryOver) {
  AlignedArray<std::uint32_t> a(100);
  a[99] = 7;
  const std::uint32_t* memory = a.data();
  AlignedArray<std::uint32_t> b(std::move(a));
  EXPECT_EQ(b.data(), memory);
  EXPECT_EQ(b[99], 7u);
  AlignedArray<std::uint32_t> c(5);
  c = std::move(b);
  EXPECT_EQ(c.data(), memory);
  EXPECT_EQ(c.size(), 100u);
  EXPECT_EQ(c[99], 7u);
}

TEST(Aligned, ShrinkingKeepsTheFirstAndGivesPagesBack) {
  const std::size_t before = mapped_bytes();
  for (const std::size_t size : {0, 1, 1000, 100'000, 2'000'000}) {
    for (const std::size_t kept : {std::size_t{0}, size / 1000, size / 2, size}) {
      AlignedArray<std::uint32_t> array(size);
      for (std::size_t i = 0; i < size; ++i) array[i] = static_cast<std::uint32_t>(i);
      const std::uint32_t* memory = array.data();
      array.shrink(kept);
      ASSERT_EQ(array.size(), kept);
      ASSERT_EQ(array.data(), memory);
      for (std::size_t i = 0; i < kept; ++i) ASSERT_EQ(array[i], i);
      if (size > 1'000'000 && kept == size / 2) {
        EXPECT_LT(mapped_bytes() - before, 5'000'000u);
      }
      AlignedArray<std::uint32_t> other = std::move(array);
      other.shrink(kept / 2);
      EXPECT_EQ(other.bytes(), kept / 2 * sizeof(std::uint32_t));
    }
    EXPECT_EQ(mapped_bytes(), before);
  }
}

TEST(Aligned, LongVectorsGrowAndKeepWhatTheyHold) {
  for (const std::size_t size : {0, 1, 1000, 524'288, 1'048'576, 3'000'000}) {
    std::vector<float> values;
    resize_large(values, size);
    ASSERT_EQ(values.size(), size);
    EXPECT_EQ(std::ranges::count(values, 0.0F), static_cast<std::ptrdiff_t>(size));
    std::ranges::fill(values, 2.0F);
    resize_large(values, size + 1'048'576);
    ASSERT_EQ(values.size(), size + 1'048'576);
    EXPECT_EQ(std::ranges::count(values, 2.0F), static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(std::ranges::count(values, 0.0F), 1'048'576);
  }
}

TEST(Aligned, AskingForTheImpossibleIsAnError) {
  EXPECT_ANY_THROW(AlignedArray<float>(std::size_t{1} << 60));
}

}  // namespace
}  // namespace slide
