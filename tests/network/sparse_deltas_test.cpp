#include "engine/network/sparse_deltas.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace slide {
namespace {

constexpr std::size_t kNeurons = 40, kLanes = 32, kSamples = 29;

std::vector<float> deltas() {
  std::vector<float> d(kNeurons * kLanes, 0.0f);
  Rng rng(1, Purpose::kTest);
  for (std::size_t a = 0; a < kNeurons; ++a) {
    for (std::size_t s = 0; s < kSamples && a % 7 != 3; ++s)
      d[a * kLanes + s] = static_cast<float>(std::pow(rng.uniform(), 4.0) - 0.05);
  }
  return d;
}

// Tile by tile, the last one first.
void round_all(SparseDeltas& sparse, float floor, const Rng& rng, std::vector<float>& d) {
  for (std::size_t i = slices_of(kNeurons, kSliceNeurons); i-- > 0;)
    sparse.sparsify(floor, rng, i, slice_of(i, kNeurons, kSliceNeurons), kSamples, kLanes, d.data());
}

TEST(SparseDeltas, ListWhatIsLeftOfEveryNeuron) {
  SparseDeltas sparse;
  EXPECT_FALSE(sparse.in_use());
  sparse.reserve(kNeurons, kLanes);
  EXPECT_TRUE(sparse.in_use());
  const std::vector<float> before = deltas();
  std::vector<float> d = before;
  round_all(sparse, 0.1f, Rng(2, Purpose::kTest), d);
  std::size_t rounded_to_zero = 0, rounded_up = 0;
  for (std::size_t a = 0; a < kNeurons; ++a) {
    std::vector<std::uint32_t> samples;
    for (std::uint32_t s = 0; s < kLanes; ++s) {
      const float was = before[a * kLanes + s], is = d[a * kLanes + s];
      if (is != 0.0f) samples.push_back(s);
      if (std::fabs(was) >= 0.1f || was == 0.0f) {
        EXPECT_EQ(is, was);
        continue;
      }
      EXPECT_TRUE(is == 0.0f || is == std::copysign(0.1f, was));
      ++(is == 0.0f ? rounded_to_zero : rounded_up);
    }
    const auto listed = sparse.samples_of(a);
    ASSERT_EQ(std::vector<std::uint32_t>(listed.begin(), listed.end()), samples) << a;
    ASSERT_EQ(sparse.size_of(a), samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i)
      EXPECT_EQ(sparse.values_of(a)[i], d[a * kLanes + samples[i]]);
    EXPECT_TRUE(a % 7 != 3 || samples.empty());
  }
  EXPECT_GT(rounded_to_zero, 100U);
  EXPECT_GT(rounded_up, 20U);
}

// A stream draws one number per neuron, for any tiles.
TEST(SparseDeltas, NumberOfANeuronIsItsOwn) {
  SparseDeltas sparse;
  sparse.reserve(kNeurons, kLanes);
  std::vector<float> d = deltas(), alone = d;
  round_all(sparse, 0.5f, Rng(2, Purpose::kTest), d);
  Rng rng(2, Purpose::kTest);
  std::vector<std::uint32_t> places(kLanes + 1);
  std::vector<float> values(kLanes + 1);
  for (std::size_t a = 0; a < kNeurons; ++a) {
    kernels::active().sparsify(alone.data() + a * kLanes, kSamples, 0.5f,
                               static_cast<std::uint32_t>(rng.next()), places.data(), values.data());
  }
  EXPECT_EQ(d, alone);
}

TEST(SparseDeltas, DependOnTheStreamOnly) {
  const auto rounded = [](std::uint64_t step) {
    SparseDeltas sparse;
    sparse.reserve(kNeurons, kLanes);
    std::vector<float> d = deltas();
    round_all(sparse, 0.5f, Rng(2, Purpose::kTest, step), d);
    return d;
  };
  EXPECT_EQ(rounded(1), rounded(1));
  EXPECT_NE(rounded(1), rounded(2));
}

}  // namespace
}  // namespace slide
