// Tests of hard-negative features: against a naive search, and their effect on accuracy.
#include "engine/knn/hard_negative_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/inference/inference.h"
#include "engine/training/trainer.h"
#include "engine/wide/linear_term.h"
#include "tests/network/network_test_util.h"

namespace slide {
namespace {

using test::dataset_of;
using test::Sample;

constexpr std::uint32_t kFeatures = 70, kLabels = 25;

Dataset random_data() {
  Rng rng(11, Purpose::kTest);
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < 150; ++i) {
    std::set<std::uint32_t> ids, labels;
    while (ids.size() < 5) ids.insert(rng.below(kFeatures) * rng.below(kFeatures) / kFeatures);
    while (labels.size() < 1 + i % 3) labels.insert(rng.below(kLabels));
    Sample sample;
    for (const std::uint32_t id : ids) sample.features.emplace_back(id, float(0.1 + rng.uniform()));
    sample.labels.assign(labels.begin(), labels.end());
    samples.push_back(sample);
  }
  return dataset_of(samples, kFeatures, kLabels);
}

bool has(std::span<const std::uint32_t> ids, std::uint32_t id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

using Weights = std::map<std::uint32_t, double>;

Weights row_of(const Dataset& data, const FeatureScale& scale, std::size_t i) {
  std::vector<float> values;
  const SparseRow row = scale.scaled(data.features(i), values);
  Weights sample;
  for (std::size_t k = 0; k < row.ids.size(); ++k) sample[row.ids[k]] = row.values[k];
  return sample;
}

// Strongest first; at most `most`.
std::vector<std::pair<double, std::uint32_t>> strongest_of(const Weights& weights, std::size_t most) {
  std::vector<std::pair<double, std::uint32_t>> strongest;
  for (const auto& [id, weight] : weights) strongest.emplace_back(-std::fabs(weight), id);
  std::sort(strongest.begin(), strongest.end());
  strongest.resize(std::min(strongest.size(), most));
  for (auto& [weight, id] : strongest) weight = -weight;
  return strongest;
}

// By definition, in double precision: features that co-occur with a feature in its samples.
Weights naive_cooccurrence(const Dataset& data, const FeatureScale& scale, std::uint32_t t) {
  std::vector<std::size_t> with;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (has(data.features(i).ids, t)) with.push_back(i);
  }
  const std::size_t most = std::min(with.size(), HardNegativeFeatures::kSamples);
  Weights cooccurring;
  if (with.size() < 2) return cooccurring;
  for (std::size_t s = 0; s < most; ++s) {
    const std::size_t at = with.size() <= most ? s : (s * with.size() + most - 1) / most;
    Weights sample = row_of(data, scale, with[at]);
    for (const auto& [id, value] : sample) cooccurring[id] += std::fabs(sample[t] * value);
  }
  return cooccurring;
}

// The weight of every feature that none of the label's samples has.
Weights naive_similarity(const Dataset& data, const FeatureScale& scale, std::uint32_t label,
                         std::size_t wanted) {
  Weights sum, similarity;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (!has(data.labels(i), label)) continue;
    for (const auto& [id, value] : row_of(data, scale, i)) sum[id] += value;
  }
  for (const auto& [weight, t] : strongest_of(sum, HardNegativeFeatures::kStrongest)) {
    std::size_t left = HardNegativeFeatures::kTaken * wanted;
    for (const auto& [shared, id] :
         strongest_of(naive_cooccurrence(data, scale, t), HardNegativeFeatures::kListed * wanted)) {
      if (left == 0) break;
      if (sum.contains(id)) continue;
      similarity[id] += weight * shared;
      --left;
    }
  }
  return similarity;
}

TEST(HardNegativeFeatures, AreTheStrongestCooccurringFeaturesWithoutTheLabel) {
  const Dataset data = random_data();
  std::size_t cut = 0;
  for (const double idf_power : {0.0, 1.0}) {
    const FeatureScale scale(data, idf_power, true);
    const LabelSums sums(data, kLabels, scale);
    for (const std::size_t wanted : {1, 3, 100}) {
      const HardNegativeFeatures misses(data, scale, wanted);
      LabelSums::Sum sum = sums.make_sum();
      HardNegativeFeatures::Scratch scratch = misses.make_scratch();
      for (std::uint32_t label = 0; label < kLabels; ++label) {
        sums.add_up(label, sum);
        const Weights expected = naive_similarity(data, scale, label, wanted);
        cut += naive_similarity(data, scale, label, 1000).size() > expected.size() ? 1 : 0;
        std::vector<std::uint32_t> found = {7777};  // is appended to
        misses.find(sum, scratch, found);
        ASSERT_EQ(found.size(), 1 + std::min(wanted, expected.size())) << label;
        double least = 1e9, max_left_out = 0.0;
        for (const std::uint32_t id : std::span(found).subspan(1)) {
          ASSERT_TRUE(expected.contains(id)) << label << " " << id;
          least = std::min(least, expected.at(id));
        }
        for (const auto& [id, similarity] : expected) {
          if (!has(found, id)) max_left_out = std::max(max_left_out, similarity);
        }
        EXPECT_GE(least, max_left_out - 1e-5) << label;
        EXPECT_EQ(std::set(found.begin(), found.end()).size(), found.size());
      }
    }
  }
  EXPECT_GT(cut, kLabels);
}

// Lists are computed on first use, in any order.
TEST(HardNegativeFeatures, DoNotDependOnTheOrderOfCalls) {
  const Dataset data = random_data();
  const FeatureScale scale;
  const LabelSums sums(data, kLabels, scale);
  std::vector<std::vector<std::uint32_t>> expected(kLabels);
  for (const int threads : {1, 2, 3}) {
    const HardNegativeFeatures misses(data, scale, 3);
    std::vector<LabelSums::Sum> sum;
    std::vector<HardNegativeFeatures::Scratch> scratch;
    for (int t = 0; t < threads; ++t) {
      sum.push_back(sums.make_sum());
      scratch.push_back(misses.make_scratch());
    }
    std::vector<std::vector<std::uint32_t>> found(kLabels);
    parallel_for(kLabels, threads, [&](std::size_t label, int thread) {
      const auto t = static_cast<std::size_t>(thread);
      sums.add_up(label, sum[t]);
      misses.find(sum[t], scratch[t], found[label]);
      std::sort(found[label].begin(), found[label].end());
    });
    if (threads == 1) expected = found;
    EXPECT_EQ(found, expected) << threads;
  }
}

// Groups of items; each sample has some items of a group: half seen (features), half wanted (labels), equally
// many of each kind and with equal weights.
std::vector<Sample> items_seen_and_wanted(std::uint32_t samples, std::uint64_t seed) {
  constexpr std::uint32_t kGroups = 12, kGroup = 8;
  Rng rng(seed, Purpose::kTest, 5);
  std::vector<Sample> all;
  for (std::uint32_t i = 0; i < samples; ++i) {
    const std::uint32_t first = rng.below(kGroups) * kGroup;
    std::set<std::uint32_t> seen;
    while (seen.size() < kGroup / 2) seen.insert(rng.below(kGroup));
    Sample sample;
    for (std::uint32_t item = 0; item < kGroup; ++item) {
      if (seen.contains(item)) {
        sample.features.emplace_back(first + item, 0.5f);
      } else {
        sample.labels.push_back(first + item);
      }
    }
    all.push_back(sample);
  }
  return all;
}

// Seen items are not wanted again; the label's own samples do not show that.
TEST(HardNegativeFeatures, LetTheLinearTermLearnNegativeWeights) {
  const Dataset train = dataset_of(items_seen_and_wanted(600, 1), 96, 96);
  const Dataset test = dataset_of(items_seen_and_wanted(200, 2), 96, 96);
  double precision[2] = {};
  for (const std::uint32_t against : {0U, 8U}) {
    Config config = test::small_wide_config();
    config.data.crosses = 0;
    config.train.epochs = 30;
    config.optimizer.kind = OptimizerKind::kAdagrad;
    config.optimizer.learning_rate = 0.1;
    config.layers.front().size = 4;
    config.layers.back().wide_negatives = against;
    Trainer trainer(fresh_job(config, train));
    const auto& wide = linear_term_of(trainer.network().output())->storage();
    for (std::uint32_t label = 0; label < 96; ++label) {
      for (std::uint64_t i = wide.offsets[label]; i < wide.offsets[label + 1]; ++i) {
        EXPECT_TRUE(i == wide.offsets[label] || wide.features[i - 1] < wide.features[i]);
        EXPECT_EQ(wide.weights[i] == 0.0f,
                  wide.features[i] == label);  // all other items of its group have positive weights
      }
      EXPECT_EQ(wide.offsets[label + 1] - wide.offsets[label], against > 0 ? 8U : 7U);
    }
    trainer.run({});
    const std::uint32_t ks[] = {4};
    InferenceOptions options;
    options.threads = 1;
    precision[against > 0 ? 1 : 0] = evaluate(trainer.trained(), test, options, ks, nullptr).precision(4);
  }
  EXPECT_LT(precision[0], 0.95);  // the hidden layer learns a part of it
  EXPECT_GT(precision[1], 0.985);
}

}  // namespace
}  // namespace slide
