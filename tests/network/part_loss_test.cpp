// Tests of the sharded softmax, against the unsharded one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/rng.h"
#include "engine/network/loss.h"

namespace slide::test {
namespace {

using Ids = std::vector<std::uint32_t>;

constexpr float kScale = 1.0f / 48;

// A block of a layer: logits [neurons x lanes], arbitrary padding lanes, and its samples' labels.
struct Logits {
  Logits(std::size_t n, std::size_t l, std::size_t used, float size) : neurons(n), lanes(l), z(n * l) {
    Rng rng(n, Purpose::kTest, lanes, used);
    for (float& value : z) value = size * static_cast<float>(rng.normal());
    of_sample.resize(used);
    for (std::size_t s = 0; s < used; ++s) {
      for (std::size_t k = s % 4; k > 0; --k)  // every fourth has none
        of_sample[s].push_back(static_cast<std::uint32_t>((7 * s + 11 * k) % neurons));
      std::ranges::sort(of_sample[s]);
    }
    labels.assign(of_sample.begin(), of_sample.end());
  }
  std::size_t neurons, lanes;
  AlignedArray<float> z;
  std::vector<Ids> of_sample;
  std::vector<std::span<const std::uint32_t>> labels;
};

struct Result {
  AlignedArray<float> z;
  std::vector<double> losses;
};

AlignedArray<float> rows_of(const Logits& all, std::size_t first, std::size_t end) {
  AlignedArray<float> z((end - first) * all.lanes);
  std::copy_n(all.z.data() + first * all.lanes, z.size(), z.data());
  return z;
}

// Calls body for the tiles of samples into which a step cuts a block.
template <class Body>
void each_slice(std::size_t lanes, const Body& body) {
  for (std::size_t first = 0; first < lanes; first += kSliceSamples)
    body({first, std::min(kSliceSamples, lanes - first)});
}

Result whole(const Logits& all) {
  ActiveSet set;
  set.set_labels(all.labels, 0, all.neurons);
  Result result{rows_of(all, 0, all.neurons), std::vector<double>(all.lanes, 9.0)};
  std::vector<float> log_norm(all.lanes);
  each_slice(all.lanes, [&](Slice samples) {
    softmax_loss({&set, all.neurons, all.labels.size(), all.lanes}, samples, kScale, result.z.data(),
                 log_norm.data(), result.losses.data());
  });
  return result;
}

// A shard with the working memory of its two calls.
struct Part {
  Part(const Logits& all, std::size_t first, std::size_t end)
      : z(rows_of(all, first, end)), log_norm(all.lanes, 5.0f), losses(all.lanes, 9.0) {
    set.set_labels(all.labels, first, end - first);
    targets = {&set, end - first, all.labels.size(), all.lanes, all.labels};
  }
  ActiveSet set;
  BlockTargets targets;
  AlignedArray<float> z;
  std::vector<float> log_norm;
  std::vector<double> losses;
};

std::vector<float> totals(const std::vector<std::unique_ptr<Part>>& parts, std::size_t lanes) {
  std::vector<float> total(lanes);
  for (std::size_t s = 0; s < lanes; ++s) {
    float most = -std::numeric_limits<float>::infinity();
    for (const auto& part : parts) most = std::max(most, part->log_norm[s]);
    double sum = 0.0;
    for (const auto& part : parts) sum += std::exp(double(part->log_norm[s]) - most);
    total[s] = static_cast<float>(most + std::log(sum));
  }
  return total;
}

Result in_parts(const Logits& all, const std::vector<std::size_t>& ends) {
  std::vector<std::unique_ptr<Part>> parts;
  for (std::size_t p = 0; p < ends.size(); ++p)
    parts.push_back(std::make_unique<Part>(all, p == 0 ? 0 : ends[p - 1], ends[p]));
  for (const auto& p : parts) {
    each_slice(all.lanes, [&](Slice samples) {
      softmax_part(p->targets, samples, kScale, p->z.data(), p->log_norm.data(), p->losses.data());
    });
  }
  const std::vector<float> total = totals(parts, all.lanes);
  Result result{AlignedArray<float>(all.z.size()), std::vector<double>(all.lanes, 0.0)};
  float* z = result.z.data();
  for (const auto& p : parts) {
    each_slice(all.lanes, [&](Slice samples) {
      softmax_join(p->targets, samples, kScale, total.data(), p->z.data(), p->log_norm.data());
    });
    z = std::copy(p->z.begin(), p->z.end(), z);
    for (std::size_t s = 0; s < all.lanes; ++s) result.losses[s] += p->losses[s];
  }
  for (std::size_t s = 0; s < all.labels.size(); ++s) {
    if (!all.labels[s].empty()) result.losses[s] += total[s];
  }
  return result;
}

void expect_same(const Logits& all, const std::vector<std::size_t>& ends) {
  const Result want = whole(all), got = in_parts(all, ends);
  for (std::size_t s = 0; s < all.lanes; ++s) {
    const bool counts = s < all.labels.size() && !all.labels[s].empty();
    ASSERT_NEAR(got.losses[s], want.losses[s], 1e-5 * (1 + std::fabs(want.losses[s]))) << "sample " << s;
    ASSERT_EQ(want.losses[s] != 0.0, counts) << "sample " << s;
    double sum = 0.0;
    for (std::size_t n = 0; n < all.neurons; ++n) {
      const float value = got.z[n * all.lanes + s];
      ASSERT_NEAR(value, want.z[n * all.lanes + s], 2e-6 * kScale) << "sample " << s << ", neuron " << n;
      sum += value;
    }
    ASSERT_NEAR(sum, 0.0, 1e-5 * kScale) << "sample " << s;  // probabilities minus targets
  }
}

TEST(PartLoss, SoftmaxOverPartsIsThatOverTheWhole) {
  const Logits all(60, 32, 32, 2.0f);
  expect_same(all, {60});
  expect_same(all, {30, 60});
  expect_same(all, {1, 17, 18, 60});
}

TEST(PartLoss, SpareLanesAndSingleSamples) {
  expect_same(Logits(60, 48, 21, 2.0f), {20, 40, 60});  // the last tile has no samples
  expect_same(Logits(60, 16, 3, 2.0f), {20, 40, 60});
  expect_same(Logits(60, 1, 1, 2.0f), {20, 40, 60});
}

TEST(PartLoss, PartsWithoutActiveNeurons) {
  expect_same(Logits(60, 32, 29, 2.0f), {0, 30, 30, 60, 60});
}

// exp() of such logits overflows; the shard with the largest logit has all probability.
TEST(PartLoss, LargeLogits) {
  expect_same(Logits(40, 16, 16, 200.0f), {13, 26, 40});
}

TEST(PartLoss, ASpareLaneMayHoldAnything) {
  Logits all(40, 16, 9, 2.0f);
  for (std::size_t n = 0; n < all.neurons; ++n) {
    for (std::size_t s = 9; s < 16; ++s)
      all.z[n * 16 + s] = n % 2 == 0 ? std::numeric_limits<float>::infinity() : NAN;
  }
  const Result got = in_parts(all, {13, 26, 40});
  for (std::size_t n = 0; n < all.neurons; ++n) {
    for (std::size_t s = 9; s < 16; ++s) ASSERT_EQ(got.z[n * 16 + s], 0.0f);
  }
  for (const double loss : got.losses) EXPECT_TRUE(std::isfinite(loss));
}

}  // namespace
}  // namespace slide::test
