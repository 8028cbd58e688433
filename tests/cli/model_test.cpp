// End-to-end tests of commands on a model: slide test, predict and inspect.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class ModelCommandsTest : public CliTest {};

TEST_F(ModelCommandsTest, TestMeasuresWhatTrainingMeasured) {
  train_model();
  const Outcome text = slide_.run({"test", "out/model.slide", "data/test.txt"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("70 samples"), std::string::npos);
  const Outcome done = slide_.run({"test", "out/model.slide", "data/test.txt", "--json"});
  ASSERT_EQ(done.code, 0) << done.err;
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
    const Outcome tested = slide_.run({"test", "out/model.slide", "data/test.txt", "--json"});
    ASSERT_EQ(tested.code, 0) << tested.err;
    if (mode == "full") {  // training uses older tables
      EXPECT_EQ(Json::parse(tested.out)["p_at_1"], trained["p_at_1"]);
    }
    const Outcome predicted = slide_.run({"predict", "out/model.slide", "data/test.txt", "--k", "1"});
    ASSERT_EQ(predicted.code, 0) << predicted.err;
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
  EXPECT_NE(inspected.out.find("times their rarity to the power 2\n"), std::string::npos) << inspected.out;
  EXPECT_EQ(train({"--set", "data.idf_power=4.5"}).code, 2);
}

TEST_F(ModelCommandsTest, TestTakesRanksThreadsAndInference) {
  train_model();
  const Outcome two =
      slide_.run({"test", "out/model.slide", "data/test.txt", "--json", "--k", "2,7", "--threads", "2"});
  ASSERT_EQ(two.code, 0) << two.err;
  const Json result = Json::parse(two.out);
  for (const char* key : {"p_at_2", "p_at_7", "ndcg_at_2", "psp_at_7", "recall_at_7"}) {
    EXPECT_TRUE(result.contains(key)) << key;
  }
  EXPECT_FALSE(result.contains("p_at_1"));
  const Outcome lsh =
      slide_.run({"test", "out/model.slide", "data/test.txt", "--json", "--inference", "lsh"});
  ASSERT_EQ(lsh.code, 0) << lsh.err;
  EXPECT_TRUE(Json::parse(lsh.out).contains("p_at_5"));
}

TEST_F(ModelCommandsTest, PredictPrintsOneLineASample) {
  train_model();
  const Outcome done = slide_.run({"predict", "out/model.slide", "data/test.txt", "--k", "3"});
  ASSERT_EQ(done.code, 0) << done.err;
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
  write_file(slide_.path("foreign.txt"), "3 120 200\n150,151,3 4:1\n2\n5 1:1\n");
  const Outcome done = slide_.run({"test", "out/model.slide", "foreign.txt", "--json"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.err.find("slide: foreign.txt: 1 of 3 samples have no feature"), 0U) << done.err;
  const Json json = Json::parse(done.out);
  EXPECT_EQ(json["samples_without_known_features"], 1);
  EXPECT_EQ(json["unknown_labels"], 2);
  EXPECT_EQ(slide_.run({"test", "out/model.slide", "data/test.txt"}).err, "");
}

TEST_F(ModelCommandsTest, PredictFromStandardInputIsTheSame) {
  train_model();
  const std::string text = read_file(slide_.path("data/test.txt"));
  const std::string lines = text.substr(text.find('\n') + 1);
  for (const std::string mode : {"full", "lsh"}) {
    const Outcome file = slide_.run({"predict", "out/model.slide", "data/test.txt", "--inference", mode});
    ASSERT_EQ(file.code, 0) << file.err;
    for (const std::string& input : {text, lines}) {
      const Outcome piped = slide_.run({"predict", "out/model.slide", "-", "--inference", mode}, input);
      ASSERT_EQ(piped.code, 0) << piped.err;
      EXPECT_EQ(piped.out, file.out);
    }
  }
  const Outcome blank = slide_.run({"predict", "out/model.slide", "-"}, "\n 3:1 5:2\n\n 4:1\n");
  EXPECT_EQ(std::count(blank.out.begin(), blank.out.end(), '\n'), 4) << "answers keep the lines' numbers";
  const Outcome bad = slide_.run({"predict", "out/model.slide", "-"}, "1 3:1\n1 3:x\n");
  EXPECT_EQ(bad.code, 2);
  EXPECT_NE(bad.err.find("standard input:2:"), std::string::npos) << bad.err;
}

TEST_F(ModelCommandsTest, ProbabilitiesSumToOneOverWhatWasScored) {
  train_model();
  for (const char* mode : {"full", "lsh"}) {
    const Outcome done =
        slide_.run({"predict", "out/model.slide", "data/test.txt", "--k", "60", "--inference", mode});
    ASSERT_EQ(done.code, 0) << done.err;
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
  const Outcome done = slide_.run({"predict", "out/model.slide", "data/test.txt", "--k", "60"});
  ASSERT_EQ(done.code, 0) << done.err;
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
    const Outcome done = slide_.run({command, "out/model.slide", "wide.txt"});
    EXPECT_EQ(done.code, 0);
    EXPECT_EQ(done.err, "slide: wide.txt: unknown are 1 features, as often as they occur\n");
  }
}

TEST_F(ModelCommandsTest, InspectTellsAboutModelsAndConfigurations) {
  train_model();
  const Outcome model = slide_.run({"inspect", "out/model.slide"});
  ASSERT_EQ(model.code, 0) << model.err;
  for (const char* word : {"300 samples, 120 features, 60 labels", "as further features", "weights",
                           "optimizer state", "workspaces", "8 tables, 128 buckets"}) {
    EXPECT_NE(model.out.find(word), std::string::npos) << word << "\n" << model.out;
  }
  EXPECT_NE(model.out.find("weights optimizer"), std::string::npos) << model.out;
  ASSERT_EQ(slide_.run({"convert", "out", "dropped.slide", "--drop-optimizer"}).code, 0);
  const Outcome without = slide_.run({"inspect", "dropped.slide"});
  EXPECT_NE(without.out.find("optimizer state    is not in the file\n"), std::string::npos) << without.out;
  EXPECT_EQ(without.out.find("optimizer"), without.out.rfind("optimizer")) << without.out;
  const Outcome config = slide_.run({"inspect", "out/config.toml"});
  ASSERT_EQ(config.code, 0) << config.err;
  EXPECT_NE(config.out.find("as further features"), std::string::npos) << config.out;
  const Outcome sized = slide_.run({"inspect", "small.toml", "--features", "1000000", "--labels", "3000000"});
  ASSERT_EQ(sized.code, 0) << sized.err;
  EXPECT_NE(sized.out.find("68,280,016"), std::string::npos)
      << sized.out;  // (1e6 + 80,000 pairs) * 16 + 16 + 3e6 * 17
  const Outcome unsized = slide_.run({"inspect", "small.toml"});
  EXPECT_EQ(unsized.code, 0) << unsized.err;
  EXPECT_NE(unsized.out.find("--features"), std::string::npos);
}

TEST_F(ModelCommandsTest, InspectListsLabels) {
  train_model();
  const Outcome list = slide_.run({"inspect", "out", "--labels"});
  EXPECT_EQ(list.code, 0) << list.err;
  EXPECT_EQ(std::ranges::count(list.out, '\n'), 60);
  const Json json = Json::parse(slide_.run({"inspect", "out", "--labels", "--json"}).out);
  ASSERT_EQ(json["labels"].size(), 60U);
  std::string by_hand;
  for (const Json& label : json["labels"])
    by_hand += fmt::format("{}\t{}\n", label["samples"].get<int>(), label["label"].get<std::string>());
  EXPECT_EQ(list.out, by_hand);
  const Outcome config = slide_.run({"inspect", "small.toml", "--labels"});
  EXPECT_EQ(config.code, 2);
  EXPECT_NE(config.err.find("--labels lists those of a model"), std::string::npos) << config.err;
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
