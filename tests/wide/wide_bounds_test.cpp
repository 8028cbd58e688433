// Tests of bounds of the linear term, against its exact values.
#include "engine/wide/wide_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "engine/base/rng.h"

namespace slide {
namespace {

constexpr std::uint32_t kBoundFeatures = 30, kBoundNeurons = 700;

// Feature f is in the pattern of every (f + 2)-th neuron, so that some are rare; three in ten weights are
// negative, all of feature 3, and some are tiny or huge.
LinearTerm some_path(bool bytes) {
  LinearTerm wide{LayerConfig()};
  LinearTerm::Storage& kept = wide.storage();
  std::vector<std::uint32_t> features;
  std::vector<float> weights;
  Rng rng(5, Purpose::kTest);
  kept.offsets.push_back(0);
  for (std::uint32_t n = 0; n < kBoundNeurons; ++n) {
    for (std::uint32_t f = 0; f < kBoundFeatures; ++f) {
      if (n % (f + 2) != 0) continue;
      const float scale = f == 7 ? 1e-30F : f == 8 ? 1e30F : 1.0F;
      const auto weight = scale * static_cast<float>(rng.normal());
      features.push_back(f);
      weights.push_back(rng.below(10) < 3 || f == 3 ? -std::abs(weight) : std::abs(weight));
      if (bytes) kept.small.q.push_back(static_cast<std::int8_t>(static_cast<int>(rng.below(255)) - 127));
    }
    kept.offsets.push_back(features.size());
    if (bytes) kept.small.exponents.push_back(static_cast<std::int8_t>(static_cast<int>(n % 9) - 10));
  }
  kept.features = AlignedArray<std::uint32_t>(features.size());
  std::ranges::copy(features, kept.features.data());
  if (bytes) return wide;
  kept.weights = AlignedArray<float>(weights.size());
  std::ranges::copy(weights, kept.weights.data());
  return wide;
}

WideBounds bounds_of(const LinearTerm& wide, std::size_t few) {
  std::vector<std::uint32_t> ids(kBoundNeurons);
  std::iota(ids.begin(), ids.end(), 0U);
  return {WidePostings(wide, ids, kBoundFeatures, 2), kBoundNeurons, few, 2};
}

// Contribution of features of more than `few` neurons to the score of `neuron`, in double.
double common_score(const LinearTerm& wide, std::size_t few, std::size_t neuron, const SparseRow& row) {
  const LinearTerm::Storage& kept = wide.storage();
  double sum = 0.0;
  for (std::uint64_t at = kept.offsets[neuron]; at < kept.offsets[neuron + 1]; ++at) {
    const std::uint32_t f = kept.features[at];
    const auto id = std::ranges::lower_bound(row.ids, f);
    const bool has = id != row.ids.end() && *id == f;
    if (has && static_cast<std::size_t>(std::ranges::count(kept.features, f)) > few)
      sum += double{kept.weight(neuron, at)} * row.values[static_cast<std::size_t>(id - row.ids.begin())];
  }
  return sum;
}

double largest_weight(const LinearTerm& wide, std::uint32_t feature) {
  const LinearTerm::Storage& kept = wide.storage();
  double largest = 0.0;
  for (std::size_t n = 0; n < kBoundNeurons; ++n) {
    for (std::uint64_t at = kept.offsets[n]; at < kept.offsets[n + 1]; ++at)
      if (kept.features[at] == feature) largest = std::max(largest, double{kept.weight(n, at)});
  }
  return largest;
}

class Bounds : public testing::TestWithParam<bool> {};

TEST_P(Bounds, AreNotBelowAnyScoreAndReachTheLargest) {
  const LinearTerm wide = some_path(GetParam());
  for (const std::size_t few : {0, 60, 1000}) {
    const WideBounds bounds = bounds_of(wide, few);
    ASSERT_EQ(bounds.groups(), (kBoundNeurons + WideBounds::kGroup - 1) / WideBounds::kGroup);
    WideBounds::Samples samples;
    Rng rng(6, Purpose::kTest);
    std::vector<std::uint32_t> ids;
    std::vector<float> values;
    for (std::uint32_t s = 0; s < 20; ++s) {
      ids.clear(), values.clear();
      for (std::uint32_t f = 0; f < kBoundFeatures; ++f) {
        if (s == 0 ? f != 5 : rng.below(3) != 0 || f == 8) continue;  // sample 0 has a single feature
        ids.push_back(f);
        values.push_back(static_cast<float>(rng.uniform()));
      }
      const SparseRow row{ids, values};
      ASSERT_TRUE(bounds.append(row, samples));
      for (const auto& [first, count] : {std::pair<std::size_t, std::size_t>{0, bounds.groups()}, {3, 18}}) {
        std::vector<float> got(count, -1.0F);
        bounds.bound(samples, s, first, count, got.data());
        for (std::size_t g = first; g < first + count; ++g) {
          double largest = 0.0;
          const std::size_t end = std::min<std::size_t>(kBoundNeurons, (g + 1) * WideBounds::kGroup);
          for (std::size_t n = g * WideBounds::kGroup; n < end; ++n)
            largest = std::max(largest, common_score(wide, few, n, row));
          ASSERT_GE(got[g - first] * (1 + WideBounds::kRounding), largest) << s << " " << g << " " << few;
          // The largest weight quantizes to 64 or more, and rounding adds less than one.
          if (s == 0 && few < 100) {
            ASSERT_LE(got[g - first], largest + largest_weight(wide, 5) * values.front() / 63)
                << g << " " << few;
          }
          if (few == 1000) {
            ASSERT_EQ(got[g - first], 0.0F);
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, Bounds, testing::Bool());

TEST(WideBounds, ThereAreNoneForValuesBelowZero) {
  const WideBounds bounds = bounds_of(some_path(false), 0);
  WideBounds::Samples samples;
  const std::vector<std::uint32_t> ids = {1, 4};
  std::size_t appended = 1;
  for (const float value : {-1e-6F, -3.0F, std::numeric_limits<float>::quiet_NaN()}) {
    const std::vector<float> values = {2.0F, value};
    EXPECT_FALSE(bounds.append({ids, values}, samples));
    EXPECT_EQ(samples.from.size(), ++appended);
    EXPECT_TRUE(samples.rows.empty());
  }
  const std::vector<float> values = {2.0F, 0.0F};
  EXPECT_TRUE(bounds.append({ids, values}, samples));
}

}  // namespace
}  // namespace slide
