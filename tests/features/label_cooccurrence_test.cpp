// Tests of label co-occurrence, against counts of all pairs.
#include "engine/statistics/label_cooccurrence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "engine/base/rng.h"

namespace slide::test {
namespace {

struct LabelRows {
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> labels;

  void add(const std::vector<std::uint32_t>& row) {
    labels.insert(labels.end(), row.begin(), row.end());
    offsets.push_back(labels.size());
  }
  std::span<const std::uint32_t> of(std::size_t i) const {
    return std::span(labels).subspan(offsets[i], offsets[i + 1] - offsets[i]);
  }
};

// Rows of up to `most` labels; small labels are frequent.
LabelRows rows_of_labels(std::size_t rows, std::uint32_t labels, std::size_t most) {
  Rng rng(1, Purpose::kTest);
  LabelRows made;
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<std::uint32_t> row;
    for (std::size_t e = 0; e < i % (most + 1); ++e)
      row.push_back(static_cast<std::uint32_t>(rng.below(1 + rng.below(labels))));
    std::ranges::sort(row);
    row.erase(std::unique(row.begin(), row.end()), row.end());
    made.add(row);
  }
  return made;
}

using Shares = std::map<std::uint32_t, double>;

Shares naive_cooccurrence(const LabelRows& rows, std::uint32_t label) {
  std::map<std::uint32_t, int> together;
  int samples = 0;
  for (std::size_t i = 0; i + 1 < rows.offsets.size(); ++i) {
    const auto row = rows.of(i);
    if (std::ranges::find(row, label) == row.end()) continue;
    ++samples;
    for (const std::uint32_t other : row) together[other] += other == label ? 0 : 1;
  }
  std::vector<std::pair<int, std::uint32_t>> order;
  for (const auto& [other, count] : together)
    if (count >= 2) order.emplace_back(-count, other);
  std::ranges::sort(order);
  Shares shares;
  for (std::size_t c = 0; c < std::min<std::size_t>(8, order.size()); ++c)
    shares[order[c].second] = -order[c].first / double(samples + 10);
  return shares;
}

void expect_cooccurrence(std::span<const LabelCooccurrence::Cooccurring> got, const Shares& expected) {
  ASSERT_EQ(got.size(), expected.size());
  auto at = expected.begin();
  for (const auto& [label, probability] : got) {
    EXPECT_EQ(label, at->first);  // ascending
    EXPECT_FLOAT_EQ(probability, static_cast<float>(at->second));
    ++at;
  }
}

TEST(LabelCooccurrence, AreThoseThatComeMostOften) {
  const LabelRows rows = rows_of_labels(600, 50, 12);
  const LabelCooccurrence cooccurrence(rows.offsets, rows.labels);
  std::size_t all = 0;
  for (std::uint32_t label = 0; label < 50; ++label) {
    expect_cooccurrence(cooccurrence.of(label), naive_cooccurrence(rows, label));
    all += cooccurrence.of(label).size();
  }
  EXPECT_GT(all, 100U);
  EXPECT_LE(double(cooccurrence.bytes()), LabelCooccurrence::bytes_of(50) + sizeof(std::uint64_t));
}

TEST(LabelCooccurrence, OfNothingAreNone) {
  EXPECT_TRUE(LabelCooccurrence().of(0).empty());
  LabelRows rows;
  EXPECT_TRUE(LabelCooccurrence(rows.offsets, rows.labels).of(3).empty());
  rows.add({});
  rows.add({4});
  rows.add({4});
  const LabelCooccurrence cooccurrence(rows.offsets, rows.labels);
  for (const std::uint32_t label : {0U, 4U, 5U, UINT32_MAX})
    EXPECT_TRUE(cooccurrence.of(label).empty()) << label;
}

// A label with more samples than the limit is counted in every third sample.
TEST(LabelCooccurrence, OfFrequentLabelsAreCountedInSomeSamples) {
  LabelRows rows, third;
  for (std::uint32_t i = 0; i < LabelCooccurrence::kMaxEntries; ++i) {
    const std::vector<std::uint32_t> row = {0, 1 + i % 3, 4 + i % 5};
    rows.add(row);
    if (i % 3 == 0) third.add(row);
  }
  const LabelCooccurrence cooccurrence(rows.offsets, rows.labels);
  expect_cooccurrence(cooccurrence.of(0), naive_cooccurrence(third, 0));
  EXPECT_EQ(cooccurrence.of(0)[0].label, 1U);
  // Labels of fewer samples are counted in all of them.
  expect_cooccurrence(cooccurrence.of(5), naive_cooccurrence(rows, 5));
}

}  // namespace
}  // namespace slide::test
