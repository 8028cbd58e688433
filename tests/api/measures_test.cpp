// What a model is worth on labels that training lacks: the same by evaluate(), by scores, and by train() with
// test data; and all labels that reach a threshold.
#include <gtest/gtest.h>
#include <slide/slide.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/api/samples.h"
#include "tests/cli/program.h"
#include "tests/datasets/test_files.h"

namespace slide::api {
namespace {

constexpr const char* kTrain =
    "music\tviolin cello\nmusic,art\tviolin paint\nart\tpaint brush\nsport\tball goal\nsport,art\tball "
    "brush\n";
constexpr const char* kTest =
    "music,x\tviolin goal\nx\tcello paint\nart,y\tbrush\ny,x,sport\tball\nsport\tgoal\nmusic\tviolin\n";

std::string repeated(const std::string& lines, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += lines;
  return all;
}

Config text_config(const std::string& train, const std::string& test) {
  return Config({"data.train=" + train, "data.test=" + test, "train.epochs=3", "train.threads=2",
                 "text.min_count=1", "eval.k=[1,2,3]"});
}

void expect_same(const Measures& one, const Measures& other) {
  std::size_t compared = 0;
  for (const auto& [name, value] : one) {
    if (!other.contains(name)) continue;
    EXPECT_NEAR(value, other.at(name), 1e-9) << name;
    ++compared;
  }
  EXPECT_GE(compared, 9U);
}

TEST(ApiMeasures, AllDoorsAgreeOnLabelsThatTrainingLacks) {
  const TemporaryFolder folder;
  const std::string train_file = folder.write("tr.tsv", repeated(kTrain, 20));
  const std::string test_file = folder.write("te.tsv", repeated(kTest, 3));
  Measures while_training;
  Callbacks callbacks;
  callbacks.evaluation = [&](const Evaluation& evaluation) { while_training = evaluation.measures; };
  const Model model = train(text_config(train_file, test_file), callbacks);
  const Data data = Data::read(test_file, model);
  ASSERT_EQ(model.labels(), 3U);
  ASSERT_EQ(data.labels(), 5U);
  EXPECT_EQ(data.label_name(3), "x");
  EXPECT_EQ(data.label_name(4), "y");
  const Measures measures = evaluate(model, data);
  expect_same(measures, while_training);
  // By hand: of 18 samples with 1, 1, 1, 1, 1, 1 labels that are known all could be found at 3.
  EXPECT_NEAR(measures.at("recall_at_3"), (1.0 / 2 + 0 + 1.0 / 2 + 1.0 / 3 + 1 + 1) / 6, 1e-12);

  // Scores of all labels, of samples that the library was given in memory.
  std::vector<std::string_view> texts;
  const std::vector<std::string> words = {"violin goal", "cello paint", "brush", "ball", "goal", "violin"};
  for (const std::string& text : words) texts.emplace_back(text);
  const auto id = [&](const char* name) { return static_cast<std::int32_t>(*model.label_id(name)); };
  std::vector<std::int32_t> ids = {id("music"), 3, 3, id("art"),   4,
                                   id("sport"), 3, 4, id("sport"), id("music")};
  const std::vector<std::int64_t> ends = {0, 2, 3, 5, 8, 9, 10};
  const CsrMatrix labels{ends, ids, nullptr, 5};
  expect_same(measures, evaluate(model, Data::from_texts(texts, model, labels)));
  PredictOptions options;
  options.k = 3;
  options.scores = Scores::kLogit;
  const Predictions best = Predictor(model, options).predict(Data::from_texts(texts, model));
  std::vector<std::int64_t> rows = {0, 3, 6, 9, 12, 15, 18};
  std::vector<std::int32_t> columns(best.labels.begin(), best.labels.end());
  ScoreOptions scoring;
  scoring.ks = {1, 2, 3};
  Measures of_scores = evaluate_scores({rows, columns, best.scores.data(), 3}, labels, scoring);
  expect_same(of_scores, measures);
}

TEST(ApiMeasures, OthersThanTheModelsLabelsAreNotTrainedOn) {
  const TemporaryFolder folder;
  const std::string train_file = folder.write("tr.tsv", repeated(kTrain, 20));
  const Model model = train(text_config(train_file, ""));
  const Data data = Data::read(folder.write("te.tsv", repeated(kTest, 3)), model);
  const Model further = continue_training(model, data, 1);
  EXPECT_EQ(further.labels(), 3U);
  data.write(folder.path("o.tsv"));
  EXPECT_FALSE(contains(read_file(folder.path("o.tsv")), "x,music\t"));
  EXPECT_TRUE(contains(read_file(folder.path("o.tsv")), "music,x\t"));
  model.save(folder.path("m.slide"));
  EXPECT_THROW(data.write(folder.path("m.slide"), "xmc"), InputError);
}

TEST(ApiMeasures, AllLabelsThatReachAThreshold) {
  const TemporaryFolder folder;
  const std::string train_file = folder.write("tr.tsv", repeated(kTrain, 20));
  const Model model = train(text_config(train_file, ""));
  const Data data = Data::read(train_file, model);
  PredictOptions options;
  options.k = 3;
  const Predictions all = Predictor(model, options).predict(data);
  options.k = 1;
  for (const float threshold : {0.9F, 0.2F, 0.0F}) {
    const Predictions given = Predictor(model, options).predict_reaching(data, threshold);
    std::size_t widest = 0;
    for (std::size_t i = 0; i < data.samples(); ++i) {
      std::size_t wanted = 0;
      while (wanted < 3 && all.scores[i * 3 + wanted] >= threshold) ++wanted;
      widest = std::max(widest, wanted);
      for (std::size_t r = 0; r < given.k; ++r)
        EXPECT_EQ(given.labels[i * given.k + r], r < wanted ? all.labels[i * 3 + r] : kNoLabel);
    }
    EXPECT_EQ(given.k, widest);
  }
  EXPECT_THROW(Predictor(model, options).predict_reaching(data, 30.0F), InputError);
  options.scores = Scores::kLogit;
  EXPECT_EQ(Predictor(model, options).predict_reaching(data, 3000.0F).k, 0U);
}

// By hand, F1 at 0.9, 0.7, 0.6, 0.3: 2 / 4, 4 / 5, 4 / 6, 6 / 7.
TEST(ApiMeasures, TheBestThresholdIsThatOfF1) {
  const std::vector<std::int64_t> offsets{0, 2, 4}, label_offsets{0, 1, 3};
  const std::vector<std::int32_t> ids{0, 1, 0, 2}, labels{0, 0, 2};
  const std::vector<float> scores{0.9F, 0.6F, 0.7F, 0.3F};
  const BestThreshold best =
      best_threshold({offsets, ids, scores.data(), 3}, {label_offsets, labels, nullptr, 3});
  EXPECT_EQ(best.threshold, 0.15F) << "there is no lower score";
  EXPECT_DOUBLE_EQ(best.f1_micro, 6.0 / 7.0);
}

TEST(ApiMeasures, ACalibrationIsKeptAndLeavesPredictorsAlone) {
  const TemporaryFolder folder;
  const std::string train_file = folder.write("tr.tsv", repeated(kTrain, 20));
  const std::string test_file = folder.write("te.tsv", repeated(kTest, 3));
  Model model = train(text_config(train_file, test_file));
  const Data data = Data::read(test_file, model);
  const Predictor before(model, {.k = 2});
  const Predictions raw = before.predict(data);
  EXPECT_FALSE(model.is_calibrated());
  const Calibration found = model.calibrate(data, 1);
  EXPECT_TRUE(model.is_calibrated());
  EXPECT_LT(found.error, found.error_before);
  EXPECT_EQ(before.predict(data).scores, raw.scores);
  const Predictions fitted = Predictor(model, {.k = 2}).predict(data);
  EXPECT_EQ(fitted.labels, raw.labels);
  EXPECT_NE(fitted.scores, raw.scores);
  model.save(folder.path("model.slide"));
  const Model loaded = Model::load(folder.path("model.slide"));
  EXPECT_TRUE(loaded.is_calibrated());
  EXPECT_EQ(Predictor(loaded, {.k = 2}).predict(data).scores, fitted.scores);
}

}  // namespace
}  // namespace slide::api
