// Tests of incremental training: grown sizes, unchanged weights (bit for bit), and initialisation of new
// rows.
#include "engine/run/continue_training.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "engine/config/fields.h"
#include "engine/inference/inference.h"
#include "engine/wide/linear_term.h"
#include "tests/network/network_test_util.h"
#include "tests/run/model_of.h"

namespace slide {
namespace {

constexpr std::uint32_t kFeatures = 20, kLabels = 6;

Config config_of(const std::vector<std::string>& overrides = {}) {
  std::vector<std::string> all = {"train.batch_size=32", "train.block_size=16", "train.threads=2",
                                  "layer.0.size=8",      "layer.-1.uniform=4",  "layer.-1.lsh=4",
                                  "data.crosses=0"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  return parse_config("", "here", all);
}

Dataset data_of(std::uint32_t features, std::uint32_t labels, std::uint64_t seed) {
  return test::make_data({.samples = 120, .features = features, .labels = labels, .seed = seed});
}

std::vector<float> row_of(const Parameters& matrix, std::size_t r) {
  std::vector<float> row(matrix.columns);
  matrix.load_row(r, row.data());
  return row;
}

// By sample and label.
std::vector<std::vector<float>> scores_of(const Network& network, const Dataset& data) {
  InferenceOptions options;
  options.threads = 1;
  options.k = network.labels();
  std::vector<std::vector<float>> scores(data.size(), std::vector<float>(network.labels()));
  const Predictor predictor({network, nullptr}, options);
  predictor.predict(data, [&](std::size_t sample, std::span<const Prediction> best) {
    for (const Prediction& one : best) scores[sample][one.label] = one.score;
  });
  return scores;
}

// Of a model of others, no path is opened: texts that stay are names of columns, or a separator.
TEST(ContinuedConfig, HasNoPathOfTheModel) {
  constexpr const char* kForeign = "/foreign";
  for (const DataKind kind : {DataKind::kSamples, DataKind::kInteractions}) {
    Config config;
    config.data.kind = kind;
    for (const config::Section& section : config::plain_sections(config)) {
      for (const config::Field& field : section.fields) {
        if (const auto* text = std::get_if<config::Text>(&field.value)) *text->member = kForeign;
        if (const auto* files = std::get_if<config::Files>(&field.value)) *files->member = kForeign;
        if (const auto* share = std::get_if<config::ShareOrFile>(&field.value))
          share->member->file = kForeign;
        if (const auto* power = std::get_if<config::PowerOrFile>(&field.value))
          power->member->file = kForeign;
      }
    }
    Config continued = continued_config(config, "own.slide");
    EXPECT_EQ(continued.train.init, "own.slide");
    std::vector<std::string> kept;
    for (const config::Section& section : config::plain_sections(continued)) {
      for (const config::Field& field : section.fields) {
        if (config::value_text(field).find(kForeign) != std::string::npos)
          kept.push_back(section.name + "." + std::string(field.key));
      }
    }
    std::vector<std::string> expected = {
        "data.user",   "data.item", "data.text", "data.labels", "data.label_separator",
        "data.weight", "data.dense"};
    if (kind == DataKind::kInteractions) expected.emplace_back("data.time");  // a column
    std::ranges::sort(kept);
    std::ranges::sort(expected);
    EXPECT_EQ(kept, expected);
  }
}

class ContinueTraining : public ::testing::TestWithParam<const char*> {};

TEST_P(ContinueTraining, GrowthKeepsWhatWasThere) {
  const Config config = config_of({GetParam()});
  const Dataset old = data_of(kFeatures, kLabels, 1), more = data_of(kFeatures + 9, kLabels + 3, 2);
  const Model model = test::model_of(config, old);
  const TrainedStart start =
      start_continued(model, config, continued_rows(model, more, nullptr, 2), nullptr, {}, 2);
  const auto before = model.network.matrices(), now = start.network.matrices();
  ASSERT_EQ(before.size(), now.size());
  for (std::size_t m = 0; m < before.size(); ++m) {
    for (std::size_t r = 0; r < before[m]->rows; ++r) {
      std::vector<float> row = row_of(*now[m], r);
      row.resize(before[m]->columns);
      EXPECT_EQ(row_of(*before[m], r), row) << Network::matrix_name(m) << " row " << r;
    }
  }
  EXPECT_EQ(start.network.features(), kFeatures + 9);
  EXPECT_EQ(start.network.labels(), kLabels + 3);
  EXPECT_EQ(start.shape.samples, 240U);
  EXPECT_EQ(start.neighbours->samples(), 240U);
  for (std::uint32_t label = 0; label < kLabels; ++label)
    EXPECT_EQ(start.shape.label_frequencies[label],
              old.label_frequencies()[label] + more.label_frequencies()[label]);
}

TEST_P(ContinueTraining, RepeatedSamplesAreNeighboursOnce) {
  const Config config = config_of({GetParam()});
  const Dataset all = data_of(kFeatures, kLabels, 1), part = all.slice(0, 50);
  const auto neighbours_of = [&](const Dataset& first, const Dataset& then) {
    const Model model = test::model_of(config, first);
    return start_continued(model, config, continued_rows(model, then, nullptr, 2), nullptr, {}, 2)
        .neighbours->samples();
  };
  EXPECT_EQ(neighbours_of(all, all), 120U);
  EXPECT_EQ(neighbours_of(part, all), 120U);
  EXPECT_EQ(neighbours_of(all, all.slice(70, 50)), 120U);
  EXPECT_EQ(neighbours_of(all, part), 170U) << "other samples that are similar";
}

// Initialised as in training from the beginning.
TEST_P(ContinueTraining, NewRowsStartAsInAnyTraining) {
  const Config config = config_of({GetParam()});
  const Dataset more = data_of(kFeatures + 9, kLabels + 3, 2);
  const Model model = test::model_of(config, data_of(kFeatures, kLabels, 1));
  const TrainedStart start =
      start_continued(model, config, continued_rows(model, more, nullptr, 2), nullptr, {}, 2);
  Network fresh(config, shape_of(more));
  fresh.initialise(1);
  if (fresh.input()) {
    EXPECT_EQ(row_of(start.network.input()->weights(), kFeatures),
              row_of(fresh.input()->weights(), kFeatures));
  }
  EXPECT_EQ(row_of(start.network.output().weights(), kLabels + 1),
            row_of(fresh.output().weights(), kLabels + 1));
  if (const LinearTerm* wide = linear_term_of(start.network.output()); wide != nullptr) {
    EXPECT_GT(wide->storage().offsets[kLabels + 3], wide->storage().offsets[kLabels]);
  }
}

TEST_P(ContinueTraining, NothingNewChangesNothing) {
  const Config config = config_of({GetParam()});
  const Dataset old = data_of(kFeatures, kLabels, 1);
  const Model model = test::model_of(config, old);
  const TrainedStart start =
      start_continued(model, config, continued_rows(model, old, nullptr, 2), nullptr, {}, 2);
  const auto before = model.network.matrices(), now = start.network.matrices();
  for (std::size_t m = 0; m < before.size(); ++m) {
    EXPECT_TRUE(std::ranges::equal(before[m]->weights, now[m]->weights)) << m;
    EXPECT_TRUE(std::ranges::equal(before[m]->pairs, now[m]->pairs)) << m;
    EXPECT_TRUE(std::ranges::equal(model.optimizer->matrices[m].first, start.optimizer->matrices[m].first));
    EXPECT_TRUE(std::ranges::equal(model.optimizer->matrices[m].second, start.optimizer->matrices[m].second));
  }
  if (const LinearTerm* wide = linear_term_of(model.network.output()); wide != nullptr) {
    const LinearTerm& grown = *linear_term_of(start.network.output());
    EXPECT_EQ(wide->storage().offsets, grown.storage().offsets);
    EXPECT_TRUE(std::ranges::equal(wide->storage().weights, grown.storage().weights));
    EXPECT_TRUE(std::ranges::equal(model.optimizer->wide, start.optimizer->wide));
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, ContinueTraining,
                         ::testing::Values("train.epochs=2", "layer.-1.wide=false", "train.weights=bf16",
                                           "optimizer.kind=adam", "train.shards=2", "data.idf_power=0.5"));

TEST(ContinuedPredictions, StayWhereOldSamplesHaveNothingNew) {
  const Config config = config_of({"neighbours.share=0"});
  const Dataset old = data_of(kFeatures, kLabels, 1);
  const Model model = test::model_of(config, old);
  // New samples have only new features and labels.
  const Dataset more = test::dataset_of(
      {{{{kFeatures, 1.0F}, {kFeatures + 1, 0.5F}}, {kLabels}}, {{{kFeatures + 1, 1.0F}}, {kLabels}}},
      kFeatures + 2, kLabels + 1);
  const TrainedStart start =
      start_continued(model, config, continued_rows(model, more, nullptr, 1), nullptr, {}, 1);
  const auto before = scores_of(model.network, old);
  const auto now = scores_of(start.network, old.with_counts(kFeatures + 2, kLabels));
  for (std::size_t sample = 0; sample < old.size(); ++sample) {
    for (std::uint32_t label = 0; label < kLabels; ++label)
      EXPECT_NEAR(before[sample][label], now[sample][label], 1e-5) << sample << " " << label;
  }
}

}  // namespace
}  // namespace slide
