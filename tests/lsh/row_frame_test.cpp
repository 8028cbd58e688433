// What rows are hashed relative to, and which of them are longest.
#include "lsh/row_frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "engine/base/error.h"
#include "lsh/long_rows.h"
#include "lsh_test_util.h"

namespace slide::lsh::test {
namespace {

constexpr std::size_t kDim = 20, kRows = 1000;

// Rows of length 1 around a mean of 3 in every weight; one in ten is five times as long.
Matrix shifted_rows() {
  Matrix m(kRows, kDim);
  for (std::size_t i = 0; i < kRows; ++i) {
    auto row = normal_vector(kDim, i);
    double norm2 = 0;
    for (const float value : row) norm2 += double(value) * value;
    const double scale = (i % 10 == 0 ? 5 : 1) / std::sqrt(norm2);
    for (float& value : row) value = static_cast<float>(3 + scale * value);
    m.set(i, row);
  }
  return m;
}

TEST(RowFrame, IsTheMeanAndTheLengthOfMostRows) {
  const Matrix m = shifted_rows();
  std::vector<float> bias(kRows, -7.0F);
  RowFrame frame(kDim);
  EXPECT_TRUE(frame.all_zero());
  frame.fit({m.w.data(), m.ldw, nullptr, {}, bias.data()}, kRows, 2);
  EXPECT_FALSE(frame.all_zero());
  for (const float mean : frame.mean()) EXPECT_NEAR(mean, 3, 0.1);
  EXPECT_NEAR(frame.mean_bias(), -7, 1e-5);
  EXPECT_TRUE(frame.has_bias());
  EXPECT_NEAR(std::sqrt(frame.length2()), 5, 0.3);  // one in ten is as long
}

TEST(RowFrame, DoesNotDependOnThreadsAndGoesOnAsSaved) {
  const Matrix m = shifted_rows();
  ByteString first;
  for (int threads = 1; threads <= 4; ++threads) {
    RowFrame frame(kDim);
    frame.fit({m.w.data(), m.ldw}, kRows, threads);
    ByteString saved;
    frame.save(saved);
    if (threads == 1) frame.save(first);
    EXPECT_EQ(saved.bytes(), first.bytes());
  }
  RowFrame loaded(kDim);
  ByteReader in(first.bytes(), "saved", "again");
  loaded.load(in);
  ByteString again;
  loaded.save(again);
  EXPECT_EQ(again.bytes(), first.bytes());
}

TEST(RowFrame, RowsWithoutWeightsAreBlankWhateverTheirBiases) {
  const Matrix m(kRows, kDim);
  std::vector<float> bias(kRows);
  std::iota(bias.begin(), bias.end(), 0.0F);
  RowFrame frame(kDim);
  frame.fit({m.w.data(), m.ldw, nullptr, {}, bias.data()}, kRows, 1);
  EXPECT_TRUE(frame.all_zero());
  EXPECT_GT(frame.length2(), 0);
}

TEST(LongRows, AreThoseOfTheLargestLengths) {
  constexpr std::size_t kMany = 5000;
  LongRows rows(kMany, 512);
  for (std::size_t i = 0; i < kMany; ++i) rows.lengths2()[i] = static_cast<float>((i * 37) % kMany);
  rows.choose();
  ASSERT_EQ(rows.ids().size(), 512U);
  float last = static_cast<float>(kMany);
  for (const std::uint32_t id : rows.ids()) {
    EXPECT_GE(rows.lengths2()[id], 0.98F * static_cast<float>(kMany - rows.ids().size()));
    EXPECT_LE(rows.lengths2()[id], 1.01F * last);  // lengths are told apart by their first bits
    last = rows.lengths2()[id];
  }
}

TEST(LongRows, FollowOnceManyRowsHaveChanged) {
  constexpr std::size_t kMany = 4000;
  LongRows rows(kMany, 512);
  std::fill(rows.lengths2().begin(), rows.lengths2().end(), 1.0F);
  rows.choose();
  ASSERT_FALSE(std::ranges::count(rows.ids(), 3999U) == 1);
  const std::uint32_t last[] = {3999};
  const float length2[] = {9.0F};
  rows.follow(last, length2);
  EXPECT_FALSE(std::ranges::count(rows.ids(), 3999U) == 1);
  std::vector<std::uint32_t> many(400);
  std::iota(many.begin(), many.end(), 0U);
  const std::vector<float> same(400, 1.0F);
  rows.follow(many, same.data());
  EXPECT_TRUE(std::ranges::count(rows.ids(), 3999U) == 1);
  EXPECT_EQ(rows.ids().front(), 3999U);
  EXPECT_EQ(rows.ids().size(), 512U);
}

TEST(LongRows, OfFewAllAreChosenWhateverTheyHold) {
  LongRows rows(5, 512);
  rows.lengths2()[0] = std::nanf("");
  rows.lengths2()[3] = 2.0F;
  rows.choose();
  EXPECT_EQ(rows.ids().size(), 5U);
  EXPECT_EQ(rows.ids().front(), 3U);
}

TEST(LongRows, RefuseWhatIsNotOfTheseRows) {
  LongRows few(5, 512), more(600, 512);
  few.choose();
  ByteString saved;
  few.save(saved);
  ByteReader in(saved.bytes(), "saved", "again");
  EXPECT_THROW(more.load(in), InputError);
}

}  // namespace
}  // namespace slide::lsh::test
