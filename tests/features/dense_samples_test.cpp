// Tests of exact nearest rows, against cosines in double precision with all rows.
#include "engine/knn/dense_samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/rng.h"
#include "engine/kernels/bf16.h"

namespace slide::test {
namespace {

using Rows = std::vector<std::vector<float>>;

Rows random_rows(std::size_t count, std::size_t columns, std::uint64_t seed) {
  Rng rng(seed, Purpose::kTest);
  Rows rows(count, std::vector<float>(columns));
  for (auto& row : rows) {
    for (float& x : row) x = static_cast<float>(rng.normal());
  }
  return rows;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0.0;
  for (std::size_t c = 0; c < a.size(); ++c) sum += double{a[c]} * double{b[c]};
  return sum;
}

void make_unit(std::vector<float>& row) {
  const double length = std::sqrt(dot(row, row));
  for (float& x : row) x = static_cast<float>(x / length);
}

DenseSamples samples_of(Rows& rows) {
  DenseSamples samples(rows.front().size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    make_unit(rows[i]);
    samples.set_row(i, rows[i].data());
    for (float& x : rows[i]) x = kernels::nearest_bf16(x);
  }
  return samples;
}

std::vector<float> joined(const Rows& rows, std::size_t ldx) {
  std::vector<float> x(rows.size() * ldx);
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::ranges::copy(rows[i], x.begin() + static_cast<std::ptrdiff_t>(i * ldx));
  return x;
}

// Cosines above 0, descending.
std::vector<DenseSamples::Similar> naive(const Rows& rows, const std::vector<float>& query) {
  std::vector<DenseSamples::Similar> all;
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    const double cosine = dot(rows[i], query) / std::sqrt(dot(query, query));
    if (cosine > 0) all.emplace_back(static_cast<float>(cosine), i);
  }
  std::ranges::sort(all, [](const auto& a, const auto& b) { return a.first > b.first; });
  return all;
}

TEST(DenseSamples, FindsTheMostSimilar) {
  for (const std::size_t columns : {1, 31, 37, 64}) {
    Rows rows = random_rows(1000, columns, columns);
    const DenseSamples samples = samples_of(rows);
    const Rows queries = random_rows(21, columns, 99);
    const std::size_t ldx = columns + 3;
    DenseSamples::Scratch scratch;
    samples.find(joined(queries, ldx).data(), ldx, queries.size(), 60, scratch);
    for (std::size_t q = 0; q < queries.size(); ++q) {
      const auto found = samples.compare(q, scratch);
      const auto all = naive(rows, queries[q]);
      ASSERT_EQ(found.size(), std::min<std::size_t>(60, all.size()));
      for (std::size_t i = 0; i < std::min<std::size_t>(20, found.size()); ++i)
        EXPECT_NEAR(found[i].first, all[i].first, 1e-5) << columns << " columns, place " << i;
    }
  }
}

TEST(DenseSamples, AnswersTheSameForSingleSamplesAndBatches) {
  Rows rows = random_rows(700, 50, 1);
  const DenseSamples samples = samples_of(rows);
  const Rows queries = random_rows(33, 50, 2);
  DenseSamples::Scratch many, one;
  samples.find(joined(queries, 50).data(), 50, queries.size(), 64, many);
  for (std::size_t q = 0; q < queries.size(); ++q) {
    samples.find(queries[q].data(), 50, 1, 64, one);
    const auto together = samples.compare(q, many), alone = samples.compare(0, one);
    ASSERT_GE(alone.size(), 20U);
    EXPECT_TRUE(std::equal(alone.begin(), alone.begin() + 20, together.begin()));
  }
}

TEST(DenseSamples, NothingIsLikeARowOfZeros) {
  Rows rows = random_rows(10, 5, 1);
  const DenseSamples samples = samples_of(rows);
  const std::vector<float> zeros(10);
  DenseSamples::Scratch scratch;
  samples.find(zeros.data(), 5, 2, 3, scratch);
  EXPECT_TRUE(samples.compare(0, scratch).empty());
  EXPECT_TRUE(samples.compare(1, scratch).empty());
}

TEST(DenseSamples, ChosenAndJoinedRowsAreTheSame) {
  Rows rows = random_rows(10, 40, 1);
  const DenseSamples samples = samples_of(rows);
  const std::vector<std::uint32_t> last = {8, 9};
  const DenseSamples all = samples.chosen(last).with(samples);
  ASSERT_EQ(all.size(), 12U);
  EXPECT_TRUE(all.same_row(1, samples, 9));
  EXPECT_TRUE(all.same_row(2, samples, 0));
  EXPECT_FALSE(all.same_row(2, samples, 1));
  std::vector<float> row(40);
  all.get_row(0, row.data());
  EXPECT_EQ(row, rows[8]);
}

}  // namespace
}  // namespace slide::test
