// End-to-end tests of commands on a model: slide test, predict and inspect.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class ModelCommandsTest : public CliTest {};

TEST_F(ModelCommandsTest, TestMeasuresWhatTrainingMeasured) {
  train_model();
  const Outcome text = expect_done(slide_.run({"test", "out/model.slide", "data/test.txt"}));
  EXPECT_TRUE(contains(text.out, "70 samples"));
  const Outcome done = expect_done(slide_.run({"test", "out/model.slide", "data/test.txt", "--json"}));
  const Json result = Json::parse(done.out);
  EXPECT_EQ(result["samples"], 70);
  EXPECT_GE(result["seconds"], 0.0);
  const Json last = events().back();
  for (const auto& [key, value] : last.items()) {
    if (key.find("_at_") != std::string::npos) {
      EXPECT_EQ(result[key], value) << key;
    }
  }
}

// Training, test and predict use equally scaled features, with full inference and hash tables.
TEST_F(ModelCommandsTest, FeaturesAreScaledTheSameWhereverAModelIsUsed) {
  generate();
  for (const std::string mode : {"full", "lsh"}) {
    ASSERT_EQ(train({"--set", "data.test=data/test.txt", "--set", "data.idf_power=2", "--set",
                     "layer.-1.wide=true", "--set", "train.epochs=4", "--set", "eval.inference=" + mode})
                  .code,
              0);
    const Json trained = events().back();
    const Outcome tested = expect_done(slide_.run({"test", "out/model.slide", "data/test.txt", "--json"}));
    if (mode == "full") {  // training uses older tables
      EXPECT_EQ(Json::parse(tested.out)["p_at_1"], trained["p_at_1"]);
    }
    const Outcome predicted =
        expect_done(slide_.run({"predict", "out/model.slide", "data/test.txt", "--k", "1"}));
    std::istringstream file(read_file(slide_.path("data/test.txt"))), answers(predicted.out);
    std::string sample, answer;
    std::getline(file, sample);
    int right = 0;
    while (std::getline(file, sample) && std::getline(answers, answer)) {
      std::istringstream labels(sample.substr(0, sample.find(' ')));
      for (std::string label; std::getline(labels, label, ',');)
        right += label == answer.substr(0, answer.find(':'));
    }
    EXPECT_NEAR(Json::parse(tested.out)["p_at_1"], right / 70.0, 1e-6);
    EXPECT_GT(right, 0);
  }
  const Outcome inspected = slide_.run({"inspect", "out/model.slide"});
  EXPECT_TRUE(contains(inspected.out, "times their rarity to the power 2\n"));
  EXPECT_EQ(train({"--set", "data.idf_power=4.5"}).code, 2);
}

TEST_F(ModelCommandsTest, TestTakesRanksThreadsAndInference) {
  train_model();
  const Outcome two = expect_done(
      slide_.run({"test", "out/model.slide", "data/test.txt", "--json", "--k", "2,7", "--threads", "2"}));
  const Json result = Json::parse(two.out);
  for (const char* key : {"p_at_2", "p_at_7", "ndcg_at_2", "psp_at_7", "recall_at_7"}) {
    EXPECT_TRUE(result.contains(key)) << key;
  }
  EXPECT_FALSE(result.contains("p_at_1"));
  const Outcome lsh =
      expect_done(slide_.run({"test", "out/model.slide", "data/test.txt", "--json", "--inference", "lsh"}));
  EXPECT_TRUE(Json::parse(lsh.out).contains("p_at_5"));
}

TEST_F(ModelCommandsTest, PredictPrintsOneLineASample) {
  train_model();
  const Outcome done = expect_done(slide_.run({"predict", "out/model.slide", "data/test.txt", "--k", "3"}));
  std::istringstream lines(done.out);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    std::istringstream words(line);
    double before = 1e30;
    std::size_t labels = 0;
    for (std::string word; words >> word; ++labels) {
      const std::size_t colon = word.find(':');
      ASSERT_NE(colon, std::string::npos) << line;
      EXPECT_LT(std::stoi(word.substr(0, colon)), 60);
      const double score = std::stod(word.substr(colon + 1));
      EXPECT_LE(score, before);
      before = score;
    }
    EXPECT_EQ(labels, 3U);
  }
  EXPECT_EQ(count, 70U);
}

TEST_F(ModelCommandsTest, TestTellsWhatTheModelDoesNotKnow) {
  train_model();
  const auto warning = [](const std::string& counted, const std::string& what) {
    return fmt::format(
        "slide: warning: {}, as often as they occur, which is most of the {}; check that the data are those "
        "that the model is for\n",
        counted, what);
  };
  write_file(slide_.path("foreign.txt"), "3 120 200\n150,151,152,153,3 4:1\n2\n5 1:1\n");
  const Outcome done = expect_done(slide_.run({"test", "out/model.slide", "foreign.txt", "--json"}));
  const std::string counted =
      "foreign.txt: 1 of 3 samples have no feature that the model knows; unknown are 4 labels";
  EXPECT_EQ(done.err, warning(counted, "labels"));
  expect_refused(slide_.run({"test", "out/model.slide", "foreign.txt", "--strict"}), "most of the labels");
  const Json json = Json::parse(done.out);
  EXPECT_EQ(json["samples_without_known_features"], 1);
  EXPECT_EQ(json["unknown_labels"], 4);
  EXPECT_EQ(slide_.run({"test", "out/model.slide", "data/test.txt"}).err, "");
  write_file(slide_.path("wide.txt"), "1 900 200\n3 4:1 500:1 600:1\n");
  const std::string features = warning("wide.txt: unknown are 2 features", "features");
  EXPECT_EQ(slide_.run({"test", "out/model.slide", "wide.txt"}).err, features);
  EXPECT_EQ(slide_.run({"predict", "out/model.slide", "wide.txt"}).err, features);
  EXPECT_EQ(slide_.run({"vectors", "out/model.slide", "--of", "samples", "wide.txt"}).err, features);
}

TEST_F(ModelCommandsTest, TrainingTellsOfLabelsThatItLacks) {
  train_model();
  write_file(slide_.path("one.txt"), "1 120 200\n3,150 4:1\n");
  write_file(slide_.path("most.txt"), "1 120 200\n3,150,151 4:1\n");
  for (const char* key : {"data.test", "data.validation"}) {
    const auto train = [&](const std::string& file) {
      return slide_.run({"train", "data/train.txt", "--set", fmt::format("{}={}", key, file),
                         "train.epochs=1", "--out", "measured", "--force"});
    };
    const Outcome told = train("one.txt");
    EXPECT_TRUE(contains(told.out, "one.txt: unknown are 1 labels, as often as they occur\n")) << told.out;
    EXPECT_EQ(told.err, "");
    const Outcome warned = train("most.txt");
    EXPECT_TRUE(contains(warned.err, "most.txt: unknown are 2 labels")) << key << warned.err;
    EXPECT_TRUE(contains(warned.err, "which is most of the labels")) << warned.err;
    EXPECT_FALSE(contains(warned.out, "unknown are")) << "it is said once";
  }
}

TEST_F(ModelCommandsTest, PredictFromStandardInputIsTheSame) {
  train_model();
  const std::string text = read_file(slide_.path("data/test.txt"));
  const std::string lines = text.substr(text.find('\n') + 1);
  for (const std::string mode : {"full", "lsh"}) {
    const Outcome file =
        expect_done(slide_.run({"predict", "out/model.slide", "data/test.txt", "--inference", mode}));
    for (const std::string& input : {text, lines}) {
      const Outcome piped =
          expect_done(slide_.run({"predict", "out/model.slide", "-", "--inference", mode}, input));
      EXPECT_EQ(piped.out, file.out);
    }
  }
  const Outcome blank = slide_.run({"predict", "out/model.slide", "-"}, "\n 3:1 5:2\n\n 4:1\n");
  EXPECT_EQ(std::count(blank.out.begin(), blank.out.end(), '\n'), 4) << "answers keep the lines' numbers";
  expect_refused(slide_.run({"predict", "out/model.slide", "-"}, "1 3:1\n1 3:x\n"), "standard input:2:");
}

TEST_F(ModelCommandsTest, ProbabilitiesSumToOneOverWhatWasScored) {
  train_model();
  for (const char* mode : {"full", "lsh"}) {
    const Outcome done = expect_done(
        slide_.run({"predict", "out/model.slide", "data/test.txt", "--k", "60", "--inference", mode}));
    std::istringstream lines(done.out);
    for (std::string line; std::getline(lines, line);) {
      double sum = 0;
      std::istringstream fields(line);
      for (std::string field; fields >> field;) sum += std::stod(field.substr(field.find(':') + 1));
      EXPECT_NEAR(sum, 1, 1e-4) << mode << ": " << line;
    }
  }
}

TEST_F(ModelCommandsTest, SigmoidLossPredictsProbabilities) {
  generate();
  ASSERT_EQ(train({"--set", "loss.kind=sigmoid"}).code, 0);
  const Outcome done = expect_done(slide_.run({"predict", "out/model.slide", "data/test.txt", "--k", "60"}));
  std::istringstream words(done.out);
  for (std::string word; words >> word;) {
    const double score = std::stod(word.substr(word.find(':') + 1));
    EXPECT_TRUE(score >= 0 && score <= 1) << word;
  }
}

TEST_F(ModelCommandsTest, FeaturesBeyondTheModelAreLeftOutAndTold) {
  train_model();
  write_file(slide_.path("wide.txt"), "2 500 500\n3 1:1 119:1\n400 1:1\n");  // only the header is larger
  EXPECT_EQ(slide_.run({"test", "out/model.slide", "wide.txt"}).code, 0);
  write_file(slide_.path("wide.txt"), "2 500 500\n3 1:1\n3 1:1 120:1\n");
  for (const char* command : {"test", "predict"}) {
    const Outcome done = expect_done(slide_.run({command, "out/model.slide", "wide.txt"}));
    EXPECT_EQ(done.err, "slide: wide.txt: unknown are 1 features, as often as they occur\n");
  }
}

TEST_F(ModelCommandsTest, InspectTellsAboutModelsAndConfigurations) {
  train_model();
  const Outcome model = expect_done(slide_.run({"inspect", "out/model.slide"}));
  for (const char* word : {"300 samples, 120 features, 60 labels", "feature crosses    ", "weights",
                           "optimizer state", "workspaces", "8 tables, 128 buckets"}) {
    EXPECT_TRUE(contains(model.out, word));
  }
  EXPECT_TRUE(contains(model.out, "weights optimizer"));
  ASSERT_EQ(slide_.run({"convert", "out", "dropped.slide", "--drop-optimizer"}).code, 0);
  const Outcome without = slide_.run({"inspect", "dropped.slide"});
  EXPECT_TRUE(contains(without.out, "optimizer state    is not in the file\n"));
  EXPECT_EQ(without.out.find("optimizer"), without.out.rfind("optimizer")) << without.out;
  const Outcome config = expect_done(slide_.run({"inspect", "out/config.toml"}));
  EXPECT_TRUE(contains(config.out, "feature crosses    "));
  const Outcome sized =
      expect_done(slide_.run({"inspect", "small.toml", "--features", "1000000", "--labels", "3000000"}));
  EXPECT_TRUE(contains(sized.out, "68,280,016"));  // (1e6 + 80,000 pairs) * 16 + 16 + 3e6 * 17
  const Outcome unsized = expect_done(slide_.run({"inspect", "small.toml"}));
  EXPECT_TRUE(contains(unsized.out, "--features"));
}

TEST_F(ModelCommandsTest, InspectListsLabels) {
  train_model();
  const Outcome list = expect_done(slide_.run({"inspect", "out", "--labels"}));
  EXPECT_EQ(std::ranges::count(list.out, '\n'), 60);
  const Json json = Json::parse(slide_.run({"inspect", "out", "--labels", "--json"}).out);
  ASSERT_EQ(json["labels"].size(), 60U);
  std::string by_hand;
  for (const Json& label : json["labels"])
    by_hand += fmt::format("{}\t{}\n", label["samples"].get<int>(), label["label"].get<std::string>());
  EXPECT_EQ(list.out, by_hand);
  expect_refused(slide_.run({"inspect", "small.toml", "--labels"}), "--labels lists those of a model");
  write_file(slide_.path("text.tsv"), "a,b\tone two\nb\tone\nc,b\ttwo\n");
  const Outcome data = slide_.run({"inspect", "text.tsv", "--labels"});
  EXPECT_EQ(data.out, "3\tb\n1\ta\n1\tc\n") << data.err;
  const Json of_data = Json::parse(slide_.run({"inspect", "text.tsv", "--labels", "--json"}).out);
  EXPECT_EQ(of_data["labels"].dump(),
            R"([{"label":"b","samples":3},{"label":"a","samples":1},{"label":"c","samples":1}])");
  EXPECT_EQ(slide_.run({"inspect", "small.toml", "--features", "9", "--labels", "0"}).code, 2);
  EXPECT_EQ(slide_.run({"inspect", "small.toml", "--features", "9", "--labels", "7"}).code, 0);
}

}  // namespace
}  // namespace slide::test
