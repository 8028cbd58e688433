// Tests of the candidates of the linear term, against sums over all weights.
#include "engine/wide/wide_candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "tests/wide/wide_test_util.h"

namespace slide::wide_test {
namespace {

constexpr std::uint32_t kMany = 3000;

// Patterns of many features, a fifth of the weights negative.
LinearTerm patterns(const Dataset& data) {
  LinearTerm wide(wide_config(1000), wide_config(1000).wide_scale, data, kMany, 2);
  for (std::size_t i = 0; i < wide.storage().weights.size(); i += 5) wide.storage().weights[i] *= -1.0F;
  return wide;
}

// By neuron: the sum over the `strongest` weights of each feature of neurons that are not excluded.
std::vector<double> sums(const LinearTerm& wide, const SparseRow& row, const std::vector<bool>& excluded,
                         std::size_t strongest) {
  std::vector<double> sum(kMany);
  const LinearTerm::Storage& from = wide.storage();
  for (std::size_t i = 0; i < row.ids.size(); ++i) {
    std::vector<std::pair<float, std::uint32_t>> list;
    for (std::uint32_t n = 0; n < kMany; ++n) {
      if (excluded[n]) continue;
      for (std::uint64_t at = from.offsets[n]; at < from.offsets[n + 1]; ++at) {
        if (from.features[at] == row.ids[i]) list.emplace_back(from.weights[at], n);
      }
    }
    std::ranges::sort(list, [](const auto& a, const auto& b) {
      const float x = std::fabs(a.first), y = std::fabs(b.first);
      return x > y || (x == y && a.second < b.second);
    });
    list.resize(std::min(list.size(), strongest));
    for (const auto& [weight, n] : list) sum[n] += double(weight) * row.values[i];
  }
  return sum;
}

TEST(WideCandidates, ScoresAreSumsOfTheStrongestWeights) {
  const Dataset data = random_data(4500, kMany);
  const LinearTerm wide = patterns(data);
  std::vector<bool> excluded(kMany);
  for (std::size_t n = 3; n < kMany; n += 7) excluded[n] = true;
  for (const std::size_t strongest : {1, 40, 5000}) {
    const WideCandidates candidates(wide, kFeatures, excluded, 2, strongest);
    WideCandidates::Scratch scratch = candidates.make_scratch();
    for (std::size_t i = 0; i < 6; ++i) {
      const std::vector<double> expected = sums(wide, data.features(i), excluded, strongest);
      candidates.start(data.features(i), scratch);
      for (std::uint32_t n = 0; n < kMany; ++n) ASSERT_NEAR(scratch.scores[n], expected[n], 1e-5) << n;
      candidates.clear(scratch);
      ASSERT_TRUE(std::ranges::all_of(scratch.scores, [](float score) { return score == 0.0F; }));
    }
  }
}

TEST(WideCandidates, BestAreThePositiveNeuronsOfTheLargestSums) {
  const Dataset data = random_data(4500, kMany);
  const LinearTerm wide = patterns(data);
  const std::vector<bool> none(kMany);
  const WideCandidates candidates(wide, kFeatures, none, 1);
  WideCandidates::Scratch scratch = candidates.make_scratch();
  for (const std::size_t wanted : {1U, 3U, 100U, 2 * kMany}) {
    for (std::size_t i = 0; i < 20; ++i) {
      candidates.start(data.features(i), scratch);
      std::vector<float> positive;
      for (const float score : scratch.scores) {
        if (score > 0.0F) positive.push_back(score);
      }
      std::ranges::sort(positive, std::greater<>());
      positive.resize(std::min(positive.size(), wanted));
      std::vector<std::uint32_t> found;
      candidates.best(wanted, scratch, found);
      const std::set<std::uint32_t> distinct(found.begin(), found.end());
      std::vector<float> scores;
      for (const std::uint32_t n : distinct) scores.push_back(scratch.scores[n]);
      std::ranges::sort(scores, std::greater<>());
      ASSERT_EQ(scores, positive) << wanted;
      candidates.clear(scratch);
    }
  }
}

TEST(WideCandidates, TheSameForAnyNumberOfThreads) {
  const Dataset data = random_data(4500, kMany);
  const LinearTerm wide = patterns(data);
  const std::vector<bool> none(kMany);
  const WideCandidates one(wide, kFeatures, none, 1, 10), three(wide, kFeatures, none, 3, 10);
  WideCandidates::Scratch a = one.make_scratch(), b = three.make_scratch();
  for (std::size_t i = 0; i < 20; ++i) {
    one.start(data.features(i), a);
    three.start(data.features(i), b);
    ASSERT_TRUE(std::ranges::equal(a.scores, b.scores));
    one.clear(a);
    three.clear(b);
  }
}

}  // namespace
}  // namespace slide::wide_test
