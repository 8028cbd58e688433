// Tests of the transposition of the linear term, against a sort of all weights.
#include "engine/wide/weights_by_feature.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/base/rng.h"

namespace slide {
namespace {

constexpr std::uint32_t kFeatures = 900, kNeurons = 5000;

// Each neuron has features with a probability from 0 to 1, lower ones more often; some neurons have none.
LinearTerm::Storage random_patterns() {
  LinearTerm::Storage storage;
  std::vector<std::uint32_t> features;
  Rng rng(11, Purpose::kTest);
  storage.offsets.push_back(0);
  for (std::uint32_t n = 0; n < kNeurons; ++n) {
    for (std::uint32_t f = 0; f < kFeatures; ++f) {
      if (n % 50 != 0 && rng.below(kFeatures) < (kFeatures - f) * (n % 3) / 2) features.push_back(f);
    }
    storage.offsets.push_back(features.size());
  }
  storage.features = AlignedArray<std::uint32_t>(features.size());
  std::ranges::copy(features, storage.features.data());
  storage.weights = AlignedArray<float>(features.size());
  return storage;
}

using Weight = std::tuple<std::uint32_t, std::size_t, std::uint64_t>;  // feature, neuron, index

TEST(WeightsByFeature, EachWeightHasItsPlaceByFeatureAndNeuron) {
  const LinearTerm::Storage storage = random_patterns();
  std::vector<std::uint32_t> ids;
  for (std::uint32_t n = 0; n < kNeurons; ++n) {
    if (n % 11 != 4) ids.push_back(n);
  }
  std::vector<Weight> expected;
  for (std::size_t n = 0; n < ids.size(); ++n) {
    for (std::uint64_t i = storage.offsets[ids[n]]; i < storage.offsets[ids[n] + 1]; ++i)
      expected.emplace_back(storage.features[i], n, i);
  }
  std::ranges::sort(expected);
  for (const int threads : {1, 3}) {
    const WeightsByFeature by_feature(storage, ids, kFeatures, threads);
    ASSERT_GT(by_feature.tiles(), 3U);
    ASSERT_LE(by_feature.tiles(), WeightsByFeature::kMaxTiles);
    ASSERT_EQ(by_feature.offsets().back(), expected.size());
    std::vector<Weight> got(expected.size());
    parallel_for(by_feature.tiles(), threads, [&](std::size_t tile, int) {
      const std::uint64_t end = by_feature.offsets()[by_feature.first_feature(tile + 1)];
      by_feature.visit(tile, [&](std::uint64_t place, std::size_t n, std::uint64_t i) {
        ASSERT_LT(place, end);
        got[place] = {storage.features[i], n, i};
      });
    });
    EXPECT_EQ(got, expected);
  }
}

TEST(WeightsByFeature, NoNeuronsOrNoWeights) {
  LinearTerm::Storage storage;
  storage.offsets = {0, 0, 0};
  const std::vector<std::uint32_t> ids = {0, 1};
  for (const std::size_t neurons : {0, 2}) {
    const WeightsByFeature by_feature(storage, std::span(ids).first(neurons), 7, 2);
    EXPECT_EQ(by_feature.offsets(), std::vector<std::uint64_t>(8));
    for (std::size_t tile = 0; tile < by_feature.tiles(); ++tile)
      by_feature.visit(tile, [](std::uint64_t, std::size_t, std::uint64_t) { FAIL(); });
  }
}

}  // namespace
}  // namespace slide
