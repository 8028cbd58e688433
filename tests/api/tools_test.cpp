// Tests of score metrics, configuration search and report in the C++ API.
#include <gtest/gtest.h>
#include <slide/slide.h>

#include <fstream>

#include "tests/api/samples.h"
#include "tests/datasets/test_files.h"

namespace slide::api {
namespace {

TEST(ApiMeasures, AreThoseOfAModel) {
  const test::Samples samples = test::tiny_samples();
  const Config config({"train.epochs=1", "layer.0.size=8", "layer.1.uniform=4"});
  const Model model = train(config, samples.data());
  const Predictions best = Predictor(model, {.k = 9}).predict(samples.data());
  test::Samples scored;
  for (std::size_t i = 0; i < samples.offsets.size() - 1; ++i) {
    scored.add({best.labels.begin() + static_cast<std::ptrdiff_t>(i * 9),
                best.labels.begin() + static_cast<std::ptrdiff_t>(i * 9 + 9)},
               {best.scores.begin() + static_cast<std::ptrdiff_t>(i * 9),
                best.scores.begin() + static_cast<std::ptrdiff_t>(i * 9 + 9)},
               {});
  }
  const CsrMatrix labels = {samples.label_offsets, samples.label_ids, nullptr, 9};
  ScoreOptions options;
  options.training_labels = labels;
  const Measures measures =
      evaluate_scores({scored.offsets, scored.ids, scored.values.data(), 9}, labels, options);
  for (const auto& [name, value] : evaluate(model, samples.data(), {1, 3, 5}))
    EXPECT_NEAR(measures.at(name), value, 1e-12) << name;
  EXPECT_NEAR(measures.at("p_at_1_head") + measures.at("p_at_1_middle") + measures.at("p_at_1_tail"),
              measures.at("p_at_1"), 1e-12);
}

TEST(ApiMeasures, RankByScoreThenByLabel) {
  const std::vector<std::int64_t> offsets = {0, 3}, label_offsets = {0, 1};
  const std::vector<std::int32_t> ids = {0, 1, 2}, label = {1};
  const std::vector<float> equal = {1, 1, 1}, second = {-5, -1, -7};
  const auto p_at_1 = [&](const std::vector<float>& values, std::int32_t right) {
    const std::vector<std::int32_t> labels = {right};
    return evaluate_scores({offsets, ids, values.data(), 3}, {label_offsets, labels, nullptr, 3}, {.ks = {1}})
        .at("p_at_1");
  };
  EXPECT_EQ(p_at_1(equal, 0), 1.0);
  EXPECT_EQ(p_at_1(equal, 1), 0.0);
  EXPECT_EQ(p_at_1(second, 1), 1.0);
  EXPECT_FALSE(evaluate_scores({offsets, ids, equal.data(), 3}, {label_offsets, label, nullptr, 3})
                   .contains("psp_at_1"));
}

// By hand: of two samples with labels {0, 1} and {2}, the best labels are 0 and 1.
TEST(ApiMeasures, PrecisionRecallAndF1OfTheBestAndAtAThreshold) {
  const std::vector<std::int64_t> offsets = {0, 2, 4}, label_offsets = {0, 2, 3};
  const std::vector<std::int32_t> ids = {0, 1, 1, 2}, labels = {0, 1, 2};
  const std::vector<float> values = {0.9F, 0.4F, 0.8F, 0.5F};
  const CsrMatrix scores = {offsets, ids, values.data(), 3}, truth = {label_offsets, labels, nullptr, 3};
  const Measures best = evaluate_scores(scores, truth, {.ks = {1}});
  EXPECT_NEAR(best.at("precision_micro_at_1"), 1.0 / 2, 1e-12);
  EXPECT_NEAR(best.at("recall_micro_at_1"), 1.0 / 3, 1e-12);
  EXPECT_NEAR(best.at("f1_micro_at_1"), 2.0 / 5, 1e-12);
  EXPECT_NEAR(best.at("f1_macro_at_1"), (1.0 + 0 + 0) / 3, 1e-12);
  EXPECT_NEAR(best.at("f1_samples_at_1"), (2.0 / 3 + 0) / 2, 1e-12);
  EXPECT_FALSE(best.contains("f1_micro"));
  const Measures cut = evaluate_scores(scores, truth, {.ks = {1}, .threshold = 0.5F});
  EXPECT_NEAR(cut.at("f1_micro"), 2.0 * 2 / (3 + 3), 1e-12);
  EXPECT_NEAR(cut.at("f1_macro"), (1.0 + 0 + 1) / 3, 1e-12);
}

TEST(ApiMeasures, WhatIsWrongIsRefused) {
  const std::vector<std::int64_t> offsets = {0, 1, 2}, one_row = {0, 1};
  const std::vector<std::int32_t> ids = {0, 1}, id = {0};
  const std::vector<float> values = {1, INFINITY}, good = {1, 2};
  const CsrMatrix labels = {offsets, ids, nullptr, 2};
  EXPECT_EQ(input_error([&] {
              evaluate_scores({one_row, id, good.data(), 2}, labels);
            }),
            "1 rows of scores, but 2 of labels; they must be of the same samples");
  EXPECT_EQ(input_error([&] {
              evaluate_scores({offsets, ids, values.data(), 2}, labels);
            }),
            "scores: row 1: the value of id 1 is not finite; give a number or leave it out");
  EXPECT_EQ(input_error([&] {
              evaluate_scores({offsets, ids, good.data(), 2}, labels, {.ks = {1, 0}});
            }),
            "ranks: give one or more, each at least 1");
}

Config small_config() {
  return Config({"train.epochs=2", "train.threads=2", "layer.0.size=8", "layer.1.uniform=4", "eval.k=[1]"});
}

TEST(ApiTune, FindsTheSameTrialsAgain) {
  const Data data = test::tiny_samples().data();
  const auto search = [&] {
    std::vector<Config::Overrides> changes;
    TuneCallbacks callbacks;
    callbacks.trial = [&](const Trial& trial) {
      changes.push_back(trial.changes);
      EXPECT_EQ(trial.number, changes.size());
      EXPECT_EQ(trial.dropped, trial.score == 0.0) << "all others find something";
    };
    const TuneResult result =
        tune(small_config(), data, {.trials = 5, .fixed = {"layer.0.size=8"}}, callbacks);
    EXPECT_EQ(result.trials, 5U);
    EXPECT_TRUE(result.best.best);
    EXPECT_GT(result.validation_samples, 0U);
    Config best = small_config();
    best.set(result.best.changes);
    EXPECT_EQ(result.config.to_toml(), best.to_toml());
    EXPECT_TRUE(contains(result.config.to_toml(), "size = 8 "));
    return changes;
  };
  EXPECT_EQ(search(), search());
}

TEST(ApiTune, CallbacksEndIt) {
  const Data data = test::tiny_samples().data();
  std::uint32_t trials = 0;
  TuneCallbacks callbacks;
  callbacks.trial = [&](const Trial&) { ++trials; };
  callbacks.step = [&] { return trials < 3; };
  const std::uint32_t ended = tune(small_config(), data, {}, callbacks).trials;
  EXPECT_EQ(ended, trials);
  EXPECT_GE(ended, 3U);
  EXPECT_LE(ended, 4U) << "other votes for the third need no step";
  EXPECT_EQ(input_error([&] { tune(small_config(), data, {}, callbacks); }),
            "the search was ended before its first trial was done");
  callbacks.step = nullptr;
  callbacks.trial = [](const Trial&) { throw std::out_of_range("of the callback"); };
  EXPECT_THROW(tune(small_config(), data, {}, callbacks), std::out_of_range);
  EXPECT_EQ(input_error([&] { tune(small_config(), data, {.seconds = -1.0}); }),
            "seconds: -1; give a time above 0");
}

TEST(ApiReport, ShowsRunsByTheirFolder) {
  const TemporaryFolder folder;
  const std::string out = folder.path("report.html"), foreign = folder.write("notes.html", "mine");
  EXPECT_NE(input_error([&] { write_report({folder.path("missing")}, out); }), "");
  const std::string log =
      folder.write("metrics.jsonl", R"({"event":"epoch","epoch":1,"step":3,"loss":1.5,"train_seconds":0.5})"
                                    "\n");
  const ReportSummary summary = write_report({log, log}, out);
  EXPECT_EQ(summary.runs, 1U);
  EXPECT_EQ(summary.groups.size(), 1U);
  EXPECT_TRUE(std::ifstream(out).good());
  EXPECT_TRUE(contains(input_error([&] { write_report({log}, foreign); }), "exists and is no report"));
}

TEST(ApiData, IsWrittenAndReadAgain) {
  const TemporaryFolder folder;
  const test::Samples samples = test::tiny_samples(20);
  for (const std::string name : {"a.xmc", "a.libsvm", "X.a.npz"}) {
    samples.data().write(folder.path(name));
    const Data again = Data::read(folder.path(name), Config({"data.normalize=false"}));
    ASSERT_EQ(again.samples(), 20U) << name;
    std::vector<std::uint64_t> offsets(21), label_offsets(21);
    std::vector<std::uint32_t> ids(again.feature_entries()), labels(again.label_entries());
    std::vector<float> values(again.feature_entries());
    again.copy_features(offsets.data(), ids.data(), values.data());
    again.copy_labels(label_offsets.data(), labels.data());
    EXPECT_TRUE(std::equal(offsets.begin(), offsets.end(), samples.offsets.begin())) << name;
    EXPECT_TRUE(std::equal(ids.begin(), ids.end(), samples.ids.begin(), samples.ids.end())) << name;
    EXPECT_EQ(values, samples.values) << name;
    EXPECT_TRUE(std::equal(labels.begin(), labels.end(), samples.label_ids.begin(), samples.label_ids.end()))
        << name;
    EXPECT_FALSE(again.is_text());
  }
  samples.data().write(folder.path("words"), "fasttext");
  EXPECT_EQ(Data::read(folder.path("words"), Config({"text.min_count=1"})).label_name(0), "0");
  EXPECT_TRUE(
      contains(input_error([&] { samples.data().write(folder.path("words")); }), "does not tell the format"));
  EXPECT_EQ(input_error([&] { samples.data().write(folder.path("words"), "csv"); }),
            "format 'csv'; want xmc, libsvm, fasttext, tsv or npz");
  EXPECT_EQ(input_error([&] { samples.data().label_name(0); }),
            "features and labels have names only where the data are text");
}

}  // namespace
}  // namespace slide::api
