// Tests of the feature-major view of a block, built as a whole and in parts, block after block.
#include "engine/network/block_features.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "engine/base/rng.h"

namespace slide {
namespace {

constexpr std::uint32_t kMaxFeatures = 2048, kEach = 8;  // features of each sample
constexpr std::size_t kLanes = 128;                      // max samples

using Samples = std::vector<std::vector<std::uint32_t>>;  // feature ids of each sample

// Samples whose features concentrate in the upper part, the more so the fewer they are.
Samples draw(std::size_t samples, std::uint64_t seed) {
  Rng rng(seed, Purpose::kShuffle, 0, 0);
  Samples drawn(samples);
  const auto first = static_cast<std::uint32_t>(kMaxFeatures / 2 / samples);
  for (auto& ids : drawn) {
    for (std::uint32_t i = 0; i < kEach; ++i)
      ids.push_back(first + (kMaxFeatures - first) / kEach * i + rng.below((kMaxFeatures - first) / kEach));
  }
  return drawn;
}

std::vector<SparseRow> rows_of(const Samples& samples, std::span<const float> values) {
  std::vector<SparseRow> rows;
  for (const auto& ids : samples) rows.push_back({ids, values.first(ids.size())});
  return rows;
}

using Entries = std::map<std::pair<std::uint32_t, std::size_t>, float>;  // by feature and sample

Entries entries_of(const Samples& samples, std::span<const float> values) {
  Entries entries;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    for (std::size_t i = 0; i < samples[s].size(); ++i) entries[{samples[s][i], s}] = values[i];
  }
  return entries;
}

// The entries of the built view.
Entries entries_of(const BlockFeatures& features) {
  Entries entries;
  for (std::uint32_t f = 0, number = 0; f < kMaxFeatures; ++f) {
    const std::uint32_t word = features.present()[f / 32];
    if (f % 32 == 0) number = features.first()[f / 32];
    if ((word >> (f % 32) & 1) == 0) continue;
    const std::uint32_t place = features.places()[number++];
    const std::size_t at = place / kernels::kKinds, kind = place % kernels::kKinds;
    for (std::size_t s = 0; kind == 0 && s < kLanes; ++s) {
      if (const float value = features.columns()[at * kLanes + s]; value != 0.0f) entries[{f, s}] = value;
    }
    for (std::size_t e = at; e < at + features.length_of(place); ++e)
      entries[{f, features.samples()[e]}] = features.values()[e];
  }
  return entries;
}

// A part's range starts earlier where fewer entries precede it.
TEST(BlockFeatures, PartsWhoseStretchesMoveForgetTheBlockBefore) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  BlockFeatures features;
  features.reserve(kMaxFeatures, kLanes * kEach, kLanes);
  std::uint64_t seed = 0;
  for (const std::size_t samples : {2, 128, 1, 100, 30, 5, 128, 127, 3, 64}) {
    for (const bool ascending : {true, false}) {
      const Samples drawn = draw(samples, ++seed);
      const std::vector<SparseRow> rows = rows_of(drawn, values);
      features.clear();
      for (std::size_t i = 0; i < BlockFeatures::kMaxParts; ++i) {
        const std::size_t part = ascending ? i : BlockFeatures::kMaxParts - 1 - i;
        const auto begin = static_cast<std::uint32_t>(kMaxFeatures / BlockFeatures::kMaxParts * part);
        features.build(rows, kLanes, {begin, begin + kMaxFeatures / std::uint32_t{BlockFeatures::kMaxParts}},
                       part);
      }
      EXPECT_EQ(entries_of(features), entries_of(drawn, values)) << samples << (ascending ? " up" : " down");
    }
  }
}

TEST(BlockFeatures, AWholeBuildForgetsTheOneBefore) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8};
  BlockFeatures features;
  features.reserve(kMaxFeatures, kLanes * kEach, kLanes);
  std::uint64_t seed = 0;
  for (const std::size_t samples : {2, 128, 1, 100}) {
    const Samples drawn = draw(samples, ++seed);
    features.build(rows_of(drawn, values), kLanes);
    EXPECT_EQ(entries_of(features), entries_of(drawn, values)) << samples;
  }
}

}  // namespace
}  // namespace slide
