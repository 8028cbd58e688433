// Tests of feature crosses from training to predictions: use in the network, storage in the file, and
// incremental training.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/crosses/feature_transform.h"
#include "engine/inference/attribution.h"
#include "engine/inference/inference.h"
#include "engine/model/model_file.h"
#include "engine/run/continue_training.h"
#include "engine/run/label_view.h"
#include "engine/training/trainer.h"
#include "engine/wide/linear_term.h"
#include "tests/network/network_test_util.h"
#include "tests/run/file_bytes.h"
#include "tests/run/model_of.h"

namespace slide {
namespace {

constexpr std::uint32_t kWords = 30, kMeanings = 12;

// Sample i has label l where it has at least one of the words 2l and 2l + 1; otherwise the last label.
Dataset meanings(std::size_t samples, std::uint64_t seed, std::uint32_t words = kWords) {
  Rng rng(seed, Purpose::kTest);
  DatasetArrays arrays;
  for (std::size_t i = 0; i < samples; ++i) {
    std::vector<bool> has(words);
    const auto one = rng.below(kMeanings - 1);
    has[2 * one] = has[2 * one + 1] = true;
    for (int more = 0; more < 5; ++more) has[rng.below(words)] = true;
    for (std::uint32_t w = 0; w < words; ++w) {
      if (!has[w]) continue;
      arrays.feature_ids.push_back(w);
      arrays.feature_values.push_back(static_cast<float>(1 + (w + i) % 3));
    }
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
    for (std::uint32_t l = 0; l + 1 < kMeanings; ++l) {
      if (has[2 * l] && has[2 * l + 1]) arrays.label_ids.push_back(l);
    }
    arrays.label_offsets.push_back(arrays.label_ids.size());
  }
  return {std::move(arrays), words, kMeanings};
}

Config pairs_config(const std::vector<std::string>& more = {}) {
  std::vector<std::string> all = {"train.batch_size=32", "train.block_size=16", "train.threads=2",
                                  "layer.0.size=8",      "layer.-1.uniform=4",  "data.crosses=4"};
  all.insert(all.end(), more.begin(), more.end());
  return parse_config("", "here", all);
}

std::vector<std::vector<float>> answers_of(const TrainedNetwork& trained, const Dataset& data,
                                           int threads = 1) {
  InferenceOptions options;
  options.threads = threads;
  options.k = trained.network.labels();
  std::vector<std::vector<float>> scores(data.size(), std::vector<float>(trained.network.labels()));
  Predictor(trained, options).predict(data, [&](std::size_t i, std::span<const Prediction> best) {
    for (const Prediction& one : best) scores[i][one.label] = one.score;
  });
  return scores;
}

bool has_pair(const FeatureCrosses& pairs, FeatureCross pair) {
  return std::binary_search(pairs.crosses().begin(), pairs.crosses().end(), pair);
}

class Pairs : public ::testing::TestWithParam<std::vector<std::string>> {};

// Settings without components that ignore crosses.
std::vector<std::string> hidden_alone(std::vector<std::string> keys) {
  keys.insert(keys.end(), {"neighbours.share=0", "layer.-1.wide=false", "data.idf_power=0"});
  return keys;
}

// Bitwise equality with a network that gets the crosses as features of the data.
TEST_P(Pairs, AreFeaturesLikeOthersOfTheHiddenLayers) {
  const std::vector<std::string> keys = hidden_alone(GetParam());
  const Dataset train = meanings(400, 1), test = meanings(90, 2);
  Config config = pairs_config(keys);
  Trainer with(fresh_job(config, train));
  with.run({});
  const FeatureCrosses& pairs = crosses_of(with.network());
  std::size_t found = 0;
  for (std::uint32_t l = 0; l + 1 < kMeanings; ++l) found += has_pair(pairs, {2 * l, 2 * l + 1});
  EXPECT_GE(found + 1, kMeanings - 1);  // one may share its counter with another pair
  EXPECT_EQ(with.network().features(), kWords + pairs.size());
  EXPECT_EQ(with.network().sample_features(), kWords);
  EXPECT_EQ(with.shape().features, kWords);

  config.data.crosses = 0;
  const Dataset given = pairs.crossed(train, 1);
  Trainer plain(fresh_job(config, given));
  plain.run({});
  EXPECT_FALSE(crosses_of(plain.network()).active());
  EXPECT_EQ(answers_of(with.trained(), test), answers_of(plain.trained(), pairs.crossed(test, 1)));
}

TEST_P(Pairs, DoNotEnterTheLinearTerm) {
  const Dataset train = meanings(400, 1);
  Config config = pairs_config(GetParam());
  Trainer with(fresh_job(config, train));
  config.data.crosses = 0;
  const Trainer without(fresh_job(config, train));
  ASSERT_TRUE(crosses_of(with.network()).active());
  if (!with.network().wide()) GTEST_SKIP() << "none";
  const LinearTerm::Storage &one = linear_term_of(with.network().output())->storage(),
                            &other = linear_term_of(without.network().output())->storage();
  EXPECT_EQ(one.offsets, other.offsets);
  EXPECT_TRUE(std::ranges::equal(one.features, other.features));
  EXPECT_TRUE(std::ranges::equal(one.weights, other.weights));
  const std::vector<float> before(one.weights.begin(), one.weights.end());
  with.run({});
  EXPECT_FALSE(std::ranges::equal(one.weights, before));
}

TEST_P(Pairs, StayInTheFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path("model.slide");
  const Dataset train = meanings(400, 1), test = meanings(90, 2);
  const Config config = pairs_config(GetParam());
  Trainer trainer(fresh_job(config, train));
  trainer.run({});
  save_model(path,
             {config, trainer.shape(), trainer.trained(), &trainer.training().optimizer_state(), 1, nullptr});
  const Model model = load_model(path);
  EXPECT_EQ(model.version, 10U);
  EXPECT_EQ(model.shape.features, kWords);
  EXPECT_EQ(model.shape.crosses, trainer.shape().crosses);
  EXPECT_TRUE(
      std::ranges::equal(crosses_of(model.network).crosses(), crosses_of(trainer.network()).crosses()));
  EXPECT_EQ(answers_of(model.trained(), test), answers_of(trainer.trained(), test));
  EXPECT_EQ(answers_of(model.trained(), test, 3), answers_of(trainer.trained(), test));
  EXPECT_EQ(feature_text(model, kWords), fmt::format("{} + {}", crosses_of(model.network).crosses()[0].first,
                                                     crosses_of(model.network).crosses()[0].second));

  // Two features that do not ascend.
  std::string bytes = read_file(path);
  const FeatureCross first = crosses_of(model.network).crosses()[0];
  const std::uint32_t words[] = {first.first, first.second};
  const std::string_view found(reinterpret_cast<const char*>(words), sizeof words);
  const std::uint64_t count = model.shape.crosses;
  const std::string begin =
      std::string(reinterpret_cast<const char*>(&count), sizeof count) + std::string(found);
  const std::size_t at = bytes.find(begin);
  ASSERT_NE(at, std::string::npos);
  std::swap_ranges(bytes.begin() + static_cast<std::ptrdiff_t>(at + 8),
                   bytes.begin() + static_cast<std::ptrdiff_t>(at + 12),
                   bytes.begin() + static_cast<std::ptrdiff_t>(at + 12));
  std::ofstream(path, std::ios::binary) << test::with_checksum(bytes);
  EXPECT_THROW(load_model(path), InputError);
}

TEST_P(Pairs, StayInIncrementalTraining) {
  const Dataset old = meanings(400, 1), more = meanings(100, 3, kWords + 7), test = meanings(60, 2);
  std::vector<std::string> keys = GetParam();
  keys.emplace_back("layer.-1.wide=false");  // it would learn new features before the first step
  const Config config = pairs_config(keys);
  const Model model = test::model_of(config, old);
  TrainingRows rows = continued_rows(model, more, nullptr, 2);
  const TrainedStart start = start_continued(model, config, rows, nullptr, {}, 2);
  EXPECT_EQ(start.network.features(), kWords + 7 + model.shape.crosses);
  EXPECT_EQ(start.network.sample_features(), kWords + 7);
  EXPECT_TRUE(std::ranges::equal(crosses_of(start.network).crosses(), crosses_of(model.network).crosses()));
  EXPECT_EQ(answers_of({start.network, nullptr}, test), answers_of({model.network, nullptr}, test));

  TrainedStart again =
      start_continued(model, config, continued_rows(model, more, nullptr, 2), nullptr, {}, 2);
  Trainer trainer({config, std::move(rows), ContinuedStart{std::move(again)}, 2});
  trainer.run({});
  EXPECT_EQ(trainer.shape().features, kWords + 7);
  EXPECT_EQ(trainer.shape().crosses, model.shape.crosses);
  EXPECT_NE(answers_of(trainer.trained(), test), answers_of(model.trained(), test));
}

// Contributions of crosses go completely to their features.
TEST_P(Pairs, SpeakThroughTheirFeatures) {
  const Dataset train = meanings(400, 1), test = meanings(20, 2);
  Config config = pairs_config(hidden_alone(GetParam()));
  Trainer with(fresh_job(config, train));
  const FeatureCrosses& pairs = crosses_of(with.network());
  config.data.crosses = 0;
  const Dataset given = pairs.crossed(train, 1), asked = pairs.crossed(test, 1);
  Trainer plain(fresh_job(config, given));
  with.run({});
  plain.run({});
  Attribution attribution, by_pair;
  for (std::size_t i = 0; i < test.size(); ++i) {
    attribution.begin(with.network(), test, i);
    by_pair.begin(plain.network(), asked, i);
    std::vector<double> expected(kWords), found(kWords);
    for (const FeatureContribution& part : by_pair.of(0)) {
      if (part.feature < kWords) {
        expected[part.feature] += part.contribution;
        continue;
      }
      const FeatureCross pair = pairs.crosses()[part.feature - kWords];
      for (const std::uint32_t feature : {pair.first, pair.second})
        expected[feature] += part.contribution / 2;
    }
    const auto parts = attribution.of(0);
    ASSERT_EQ(parts.size(), test.features(i).ids.size());
    for (const FeatureContribution& part : parts) found[part.feature] = part.contribution;
    for (std::uint32_t f = 0; f < kWords; ++f) EXPECT_NEAR(found[f], expected[f], 1e-9) << f;
  }
}

// The last features of such samples as dense columns.
constexpr std::uint32_t kColumns = 4, kBoth = kWords + kColumns;

void expect_near(const std::vector<std::vector<float>>& found,
                 const std::vector<std::vector<float>>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (std::size_t l = 0; l < found[i].size(); ++l)
      ASSERT_NEAR(found[i][l], expected[i][l], 1e-3 * (1 + std::fabs(expected[i][l]))) << i << ' ' << l;
  }
}

// The network is that of the same numbers as sparse features.
TEST(PairsBesideDenseColumns, AreThoseOfTheSparseFeatures) {
  const Dataset sparse = meanings(400, 1, kBoth), asked = meanings(60, 2, kBoth);
  Config config = pairs_config(hidden_alone({"loss.gradient_threshold=0"}));
  Trainer with(fresh_job(config, test::with_last_dense(sparse, kColumns)));
  const FeatureCrosses& pairs = crosses_of(with.network());
  EXPECT_GE(pairs.size(), kMeanings - 2);
  for (const FeatureCross& pair : pairs.crosses()) EXPECT_LT(pair.second, kWords);
  EXPECT_EQ(with.network().dense(), kColumns);
  EXPECT_EQ(with.network().features(), kBoth + pairs.size());
  EXPECT_EQ(with.network().sample_features(), kBoth);
  config.data.crosses = 0;
  const Dataset given = pairs.crossed(sparse, 1);
  Trainer plain(fresh_job(config, given));
  with.run({});
  plain.run({});
  const Dataset dense = test::with_last_dense(asked, kColumns), all = pairs.crossed(asked, 1);
  expect_near(answers_of(with.trained(), dense), answers_of(plain.trained(), all));

  Attribution attribution, of_plain;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    attribution.begin(with.network(), dense, i);
    of_plain.begin(plain.network(), all, i);
    double found = 0, expected = 0;
    for (const FeatureContribution& at : attribution.of(3)) {
      EXPECT_LT(at.feature, kBoth);
      found += at.contribution;
    }
    for (const FeatureContribution& at : of_plain.of(3)) expected += at.contribution;
    EXPECT_NEAR(found, expected, 1e-3 * (1 + std::fabs(expected)));
  }
}

TEST(PairsBesideDenseColumns, StayInTheFileAndInIncrementalTraining) {
  const TemporaryFolder folder;
  const std::string path = folder.path("model.slide");
  const Dataset train = test::with_last_dense(meanings(400, 1, kBoth), kColumns);
  const Dataset asked = test::with_last_dense(meanings(60, 2, kBoth), kColumns);
  const Config config = pairs_config({"layer.-1.wide=true"});
  Trainer trainer(fresh_job(config, train));
  trainer.run({});
  save_model(path,
             {config, trainer.shape(), trainer.trained(), &trainer.training().optimizer_state(), 1, nullptr});
  const Model model = load_model(path);
  EXPECT_EQ(model.shape.features, kBoth);
  EXPECT_EQ(model.shape.dense, kColumns);
  EXPECT_GT(model.shape.crosses, 0U);
  EXPECT_EQ(answers_of(model.trained(), asked), answers_of(trainer.trained(), asked));

  const Model hidden = test::model_of(pairs_config(hidden_alone({})), train);
  const Dataset more = test::with_last_dense(meanings(100, 3, kBoth + 7), kColumns);
  const TrainedStart start =
      start_continued(hidden, hidden.config, continued_rows(hidden, more, nullptr, 2), nullptr, {}, 2);
  EXPECT_EQ(start.network.features(), kBoth + 7 + hidden.shape.crosses);
  EXPECT_EQ(answers_of({start.network, nullptr}, asked), answers_of({hidden.network, nullptr}, asked));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, Pairs,
    ::testing::Values(std::vector<std::string>{}, std::vector<std::string>{"data.idf_power=0.5"},
                      std::vector<std::string>{"data.normalize=false", "train.weights=bf16"}));

}  // namespace
}  // namespace slide
