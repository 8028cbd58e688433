// Quantized linear-term weights score bitwise like their float values.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/base/rng.h"
#include "engine/network/block_features.h"
#include "engine/wide/linear_term.h"
#include "engine/wide/wide_candidates.h"
#include "engine/wide/wide_postings.h"

namespace slide {
namespace {

constexpr std::uint32_t kSmallFeatures = 50, kSmallNeurons = 300;

// Neurons with every third to fifth feature, and 37 % of them with the first one; some without features.
LinearTerm small_path(bool bytes) {
  LinearTerm wide{LayerConfig()};
  LinearTerm::Storage& kept = wide.storage();
  Rng rng(3, Purpose::kTest);
  std::vector<std::uint32_t> features;
  kept.offsets.push_back(0);
  for (std::uint32_t n = 0; n < kSmallNeurons; ++n) {
    for (std::uint32_t f = rng.below(100) < 37 ? 0 : 1; n % 11 != 5 && f < kSmallFeatures;
         f += 3 + rng.below(3))
      features.push_back(f);
    kept.offsets.push_back(features.size());
    if (bytes) kept.small.exponents.push_back(static_cast<std::int8_t>(static_cast<int>(n % 9) - 10));
  }
  for (std::size_t i = 0; i < features.size(); ++i) {
    const int q = static_cast<int>(rng.below(254)) - 127;
    if (bytes)
      kept.small.q.push_back(static_cast<std::int8_t>(q));
    else
      kept.small.halves.push_back(kernels::to_bf16(static_cast<float>(q) / 77.0F));
  }
  kept.features = AlignedArray<std::uint32_t>(features.size());
  std::ranges::copy(features, kept.features.data());
  return wide;
}

// Samples of six features each.
struct SmallRows {
  explicit SmallRows(std::size_t count) {
    Rng rng(4, Purpose::kTest);
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::uint32_t> own(kSmallFeatures);
      std::iota(own.begin(), own.end(), 0U);
      for (std::size_t k = 0; k < 6; ++k)
        std::swap(own[k],
                  own[k + rng.below(static_cast<std::uint32_t>(own.size() - k) / (i % 2 == 0 ? 1U : 4U))]);
      own.resize(6);
      std::ranges::sort(own);
      for (const std::uint32_t id : own) {
        ids.push_back(id);
        values.push_back(static_cast<float>(rng.normal()));
      }
    }
    for (std::size_t i = 0; i < count; ++i)
      rows.push_back({std::span(ids).subspan(6 * i, 6), std::span(values).subspan(6 * i, 6)});
  }
  std::vector<std::uint32_t> ids;
  std::vector<float> values;
  std::vector<SparseRow> rows;
};

std::vector<std::uint32_t> some_neurons(std::uint32_t step) {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t n = 0; n < kSmallNeurons; n += step) ids.push_back(n);
  return ids;
}

class SmallWeights : public testing::TestWithParam<bool> {};

TEST_P(SmallWeights, WidenToTheValuesTheyAre) {
  const LinearTerm small = small_path(GetParam()), floats = small.widened();
  EXPECT_TRUE(floats.storage().small.empty());
  EXPECT_EQ(small.weights(), floats.weights());
  EXPECT_LT(small.bytes(), floats.bytes());
  const LinearTerm::Storage& kept = small.storage();
  for (std::size_t n = 0; n < kSmallNeurons; ++n) {
    for (std::uint64_t at = kept.offsets[n]; at < kept.offsets[n + 1]; ++at)
      ASSERT_EQ(kept.weight(n, at), floats.storage().weight(n, at));
  }
}

TEST_P(SmallWeights, BlocksGetTheSameScoresByNeuronAndByFeature) {
  const LinearTerm small = small_path(GetParam()), floats = small.widened();
  const SmallRows samples(128);
  for (const std::size_t lanes : {1, 16, 64, 128}) {
    BlockFeatures features;
    features.reserve(kSmallFeatures, 6 * lanes, lanes);
    features.build(std::span(samples.rows).first(lanes), lanes);
    const std::vector<std::uint32_t> ids = some_neurons(3);
    const auto scores = [&](const LinearTerm& wide) {
      AlignedArray<float> z(2 * ids.size() * lanes);
      TermHits hits;
      TermScratch scratch;
      wide.forward(features, ids, lanes, z.data(), hits, scratch);
      const WidePostings postings(wide, ids, kSmallFeatures, 2);
      WidePostings::Walk walk;
      postings.start(features, walk);
      for (std::size_t first = 0; first < ids.size(); first += 40) {
        postings.add(features, first, std::min(first + 40, ids.size()), lanes,
                     z.data() + (ids.size() + first) * lanes, walk);
      }
      return std::vector<float>(z.begin(), z.end());
    };
    const std::vector<float> want = scores(floats);
    EXPECT_EQ(scores(small), want) << lanes;
    EXPECT_GT(std::ranges::count_if(want, [](float z) { return z != 0.0F; }), 0);
  }
}

TEST_P(SmallWeights, SamplesAloneAndTheirCandidatesGetTheSameScores) {
  const LinearTerm small = small_path(GetParam()), floats = small.widened();
  const SmallRows samples(40);
  const std::vector<std::uint32_t> ids = some_neurons(2);
  for (const std::size_t strongest : {3, 20, 1000}) {
    for (const SparseRow& row : samples.rows) {
      const auto scores = [&](const LinearTerm& wide) {
        const WidePostings postings(wide, ids, kSmallFeatures, 2);
        std::vector<float> z(ids.size(), 0.25F);
        postings.add(row, SIZE_MAX, z.data());
        const std::vector<bool> excluded(wide.storage().offsets.size() - 1);
        const WideCandidates candidates(wide, kSmallFeatures, excluded, 2, strongest);
        WideCandidates::Scratch scratch = candidates.make_scratch();
        std::vector<std::uint32_t> best;
        candidates.start(row, scratch);
        candidates.best(4, scratch, best);
        std::ranges::sort(best);
        for (const std::uint32_t n : best) {
          z.push_back(static_cast<float>(n));
          z.push_back(scratch.scores[n]);
        }
        return z;
      };
      ASSERT_EQ(scores(small), scores(floats));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, SmallWeights, testing::Bool());

}  // namespace
}  // namespace slide
