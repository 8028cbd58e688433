// The commands end to end: what they write, print and return.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/program.h"

namespace slide::test {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kConfig = R"([train]
epochs = 2
batch_size = 32
block_size = 16
deterministic = true
[[layer]]
size = 16
[[layer]]
kind = "sampled"
lsh = 16
uniform = 8
[layer.hash]
k = 4
tables = 8
range_pow = 4
rehash_steps = 5
rebuild_steps = 12
)";

std::vector<Json> events_of(const std::string& jsonl) {
  std::vector<Json> events;
  std::istringstream lines(jsonl);
  for (std::string line; std::getline(lines, line);) events.push_back(Json::parse(line));
  return events;
}

std::vector<std::string> keys_of(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

// What must not depend on time, threads or machine.
Json without_timings(std::vector<Json> events) {
  for (Json& event : events) {
    for (const std::string& key : keys_of(event)) {
      if (key.ends_with("_seconds") || key.ends_with("_per_second") || key.ends_with("_mb")) event.erase(key);
    }
  }
  return events;
}

class CliTest : public testing::Test {
 protected:
  void SetUp() override { write_file(slide_.path("small.toml"), kConfig); }

  void generate() {
    const Outcome made = slide_.run({"generate", "--samples", "300", "--features", "120", "--labels", "60",
                                     "--seed", "3", "--test-samples", "70", "--out", "data"});
    ASSERT_EQ(made.code, 0) << made.err;
  }
  Outcome train(std::vector<std::string> more, const std::string& out = "out") {
    std::vector<std::string> arguments = {"train", "small.toml", "--set", "data.train=data/train.txt",
                                          "--out", out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return slide_.run(arguments);
  }
  void train_model() {
    generate();
    const Outcome done = train({"--set", "data.test=data/test.txt"});
    ASSERT_EQ(done.code, 0) << done.err;
  }
  std::vector<Json> events(const std::string& out = "out") {
    return events_of(read_file(slide_.path(out + "/metrics.jsonl")));
  }

  Program slide_;
};

TEST_F(CliTest, WhatWillNotFitIntoMemoryIsRefusedBeforeItIsTaken) {
  generate();
  const std::vector<std::string> huge = {"--set",
                                         "layer.0.size=500000000"};  // 120 x 5e8 weights and their state
  const Outcome trained = train(huge);
  EXPECT_EQ(trained.code, 2);
  EXPECT_NE(trained.err.find("training needs"), std::string::npos) << trained.err;
  EXPECT_NE(trained.err.find("MB are free; set a smaller layer.0.size"), std::string::npos) << trained.err;
  EXPECT_FALSE(std::filesystem::exists(slide_.path("out/metrics.jsonl")));
  EXPECT_EQ(slide_.run({"tune", "small.toml", "--set", "data.train=data/train.txt", huge[0], huge[1]}).code,
            2);
}

TEST_F(CliTest, TuneWritesAConfigurationThatTrains) {
  generate();
  const Outcome done =
      slide_.run({"tune", "small.toml", "--set", "data.train=data/train.txt", "--set", "layer.-1.uniform=12",
                  "--trials", "4", "--minutes", "5", "--out", "new/best.toml"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find("4 trials on 255 samples of 5 splits each, scored on 225 others"),
            std::string::npos)
      << done.out;
  EXPECT_NE(done.out.find("s on all data  data.idf_power=0.5\n"), std::string::npos)
      << done.out;  // the second trial
  EXPECT_NE(read_file(slide_.path("new/best.toml")).find("uniform = 12"), std::string::npos);
  EXPECT_EQ(slide_.run({"train", "new/best.toml", "--out", "tuned"}).code, 0);
}

TEST_F(CliTest, BashCompletesCommandsAndTheirOptions) {
  const Outcome script = slide_.run({"completion", "bash"});
  ASSERT_EQ(script.code, 0) << script.err;
  EXPECT_EQ(slide_.run({"completion", "tcsh"}).code, 2);
  write_file(slide_.path("ask.sh"), script.out + "COMP_WORDS=(slide \"$@\")\nCOMP_CWORD=$#\n_slide\n" +
                                        "echo \"${COMPREPLY[*]}\" > answer\n");
  const auto answer = [&](const std::string& words) {
    const int status = std::system(("cd '" + slide_.folder().string() + "' && bash ask.sh " + words).c_str());
    return status == 0 ? read_file(slide_.path("answer")) : "failed";
  };
  EXPECT_EQ(answer("tr"), "train\n");
  EXPECT_EQ(answer("train --res"), "--resume\n");
  EXPECT_EQ(answer("predict --thres"), "--threshold\n");
  EXPECT_EQ(answer("train fi"), "\n");  // files are the shell's business
}

TEST_F(CliTest, TheManualPageKnowsEveryOption) {
  const Outcome page = slide_.run({"man"});
  ASSERT_EQ(page.code, 0) << page.err;
  for (const char* section : {".TH SLIDE 1", ".SH NAME", ".SH SYNOPSIS", ".SH COMMANDS", ".SH EXIT STATUS"})
    EXPECT_NE(page.out.find(section), std::string::npos) << section;
  for (const char* part :
       {".SS slide train", "\\-\\-resume", "\\-\\-threshold", "\\-\\-labels\\-per\\-sample", "CONFIG"})
    EXPECT_NE(page.out.find(part), std::string::npos) << part;
}

TEST_F(CliTest, TuneRefusesWhatItCannotDo) {
  generate();
  const std::vector<std::string> base = {"tune", "small.toml", "--set", "data.train=data/train.txt"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), base.begin(), base.end());
    return slide_.run(more);
  };
  EXPECT_EQ(with({"--minutes", "0"}).code, 2);
  EXPECT_EQ(with({"--minutes", "x"}).code, 2);
  EXPECT_EQ(with({"--trials", "0"}).code, 2);
  EXPECT_EQ(with({"--train-seconds", "0"}).code, 2);
  const Outcome slow =
      with({"--train-seconds", "0.001", "--trials", "2", "--set", "train.epochs=50", "--out", "x.toml"});
  EXPECT_EQ(slow.code, 2);
  EXPECT_TRUE(slow.err.starts_with("slide: none of 2 trials would train on all the data within 0.001 s"))
      << slow.err;
  EXPECT_EQ(std::count(slow.err.begin(), slow.err.end(), '\n'), 1);
  EXPECT_NE(slow.out.find("   1  stopped  "), std::string::npos) << slow.out;
  EXPECT_FALSE(std::filesystem::exists(slide_.path("x.toml")));
  EXPECT_EQ(with({"--set", "layer.0.sizes=3"}).code, 2);
  EXPECT_EQ(with({"--out", "data"}).code, 2);
  const Outcome brief = with({"--set", "train.epochs=100000", "--minutes", "0.001"});
  EXPECT_EQ(brief.code, 2);
  EXPECT_NE(brief.err.find("too short for a single training run"), std::string::npos) << brief.err;
}

TEST_F(CliTest, TrainWritesConfigMetricsAndModel) {
  generate();
  const Outcome done = train({"--set", "data.test=data/test.txt"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(done.err, "");
  EXPECT_NE(done.out.find("300 samples, 120 features, 60 labels"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find("loaded in"), std::string::npos);
  for (const char* file : {"config.toml", "environment.json", "metrics.jsonl", "model.slide"}) {
    EXPECT_TRUE(std::filesystem::exists(slide_.path(std::string("out/") + file))) << file;
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(slide_.path("out")),
                          std::filesystem::directory_iterator()),
            4);
  const std::vector<Json> lines = events();
  ASSERT_EQ(lines.size(), 7U);
  const std::vector<std::string> start = {"event",  "samples",      "test_samples", "features",
                                          "labels", "load_seconds", "label_groups", "planned_mb"};
  const std::vector<std::string> epoch = {"event",
                                          "epoch",
                                          "step",
                                          "samples",
                                          "loss",
                                          "train_seconds",
                                          "setup_seconds",
                                          "data_seconds",
                                          "hashing_seconds",
                                          "forward_seconds",
                                          "backward_seconds",
                                          "update_seconds",
                                          "rehash_seconds",
                                          "active_mean",
                                          "active_fraction",
                                          "samples_per_second",
                                          "peak_rss_mb"};
  const std::vector<std::string> tables = {"event",        "epoch",  "samples",        "layer",    "buckets",
                                           "full_buckets", "stored", "largest_bucket", "histogram"};
  const std::vector<std::string> eval = {
      "event",  "epoch",     "samples",  "train_seconds", "eval_seconds", "p_at_1", "p_at_3",
      "p_at_5", "ndcg_at_5", "psp_at_1", "psp_at_5",      "recall_at_5",  "groups"};
  EXPECT_EQ(keys_of(lines[0]), start);
  EXPECT_EQ(lines[0]["event"], "start");
  EXPECT_EQ(lines[0]["samples"], 300);
  EXPECT_EQ(lines[0]["test_samples"], 70);
  for (const char* part : {"data", "weights", "optimizer", "tables", "workspaces"})
    EXPECT_GT(lines[0]["planned_mb"][part], 0.0) << part;
  EXPECT_EQ(lines[0]["planned_mb"]["neighbours"], 0.0);
  for (const std::size_t i : {1U, 4U}) {
    EXPECT_EQ(keys_of(lines[i]), epoch);
    EXPECT_EQ(keys_of(lines[i + 1]), tables);
    EXPECT_EQ(keys_of(lines[i + 2]), eval);
    EXPECT_EQ(lines[i]["event"], "epoch");
    EXPECT_EQ(lines[i + 1]["event"], "tables");
    EXPECT_EQ(lines[i + 2]["event"], "eval");
    EXPECT_EQ(lines[i]["epoch"], i / 3 + 1);
    EXPECT_EQ(lines[i]["samples"], 300 * (i / 3 + 1));
  }
  EXPECT_GT(lines[4]["train_seconds"], lines[1]["train_seconds"]);
  EXPECT_GT(lines[4]["peak_rss_mb"], 1.0);
}

TEST_F(CliTest, TheMeasuresOfTheGroupsOfLabelsAddUp) {
  train_model();
  const std::vector<Json> lines = events();
  const Json& eval = lines.back();
  std::size_t labels = 0;
  double precision = 0.0, positives = 0.0, found = 0.0;
  for (const char* group : {"head", "middle", "tail"}) {
    labels += lines[0]["label_groups"][group]["labels"].get<std::size_t>();
    const Json& part = eval["groups"][group];
    precision += part["p_at_3"].get<double>();
    positives += part["positives"].get<double>();
    found += part["positives"].get<double>() * part["recall_at_3"].get<double>();
  }
  EXPECT_EQ(labels, 60U);
  EXPECT_NEAR(precision, eval["p_at_3"].get<double>(), 1e-12);
  EXPECT_NEAR(found, eval["p_at_3"].get<double>() * 3 * 70, 1e-6);
  EXPECT_GE(positives, found);
}

TEST_F(CliTest, ResolvedConfigurationGivesTheSameRun) {
  train_model();
  std::filesystem::create_directories(slide_.path("elsewhere"));
  const Outcome again = slide_.run({"train", "out/config.toml", "--out", "elsewhere/again"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(without_timings(events()), without_timings(events("elsewhere/again")));
  EXPECT_EQ(read_file(slide_.path("out/config.toml")), read_file(slide_.path("elsewhere/again/config.toml")));
}

TEST_F(CliTest, SameSeedSameLossesWhateverTheThreads) {
  generate();
  ASSERT_EQ(train({"--threads", "1"}, "one").code, 0);
  ASSERT_EQ(train({"--threads", "4"}, "four").code, 0);
  ASSERT_EQ(train({"--threads", "4", "--seed", "2"}, "other").code, 0);
  EXPECT_EQ(without_timings(events("one")), without_timings(events("four")));
  EXPECT_NE(without_timings(events("one")), without_timings(events("other")));
}

TEST_F(CliTest, WithoutTestDataThereIsNoEvaluation) {
  generate();
  const Outcome done = train({});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find("data.test is not set"), std::string::npos);
  for (const Json& event : events()) EXPECT_NE(event["event"], "eval");
}

TEST_F(CliTest, FolderIsNamedAfterTheConfigurationByDefault) {
  generate();
  const Outcome done = slide_.run({"train", "small.toml", "--set", "data.train=data/train.txt"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(std::filesystem::exists(slide_.path("run/small/model.slide")));
  EXPECT_NE(done.out.find("run/small"), std::string::npos);
}

TEST_F(CliTest, SamplesWithoutLabelsAreSkippedAndCounted) {
  write_file(slide_.path("data.txt"), "5 4 3\n0 0:1\n 1:1\n1 1:1\n\n2 2:1\n");
  const Outcome done =
      slide_.run({"train", "small.toml", "--set", "data.train=data.txt", "--set", "data.test=data.txt"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find("2 training samples have no label"), std::string::npos) << done.out;
  EXPECT_EQ(slide_.run({"train", "small.toml", "--set", "data.train=none.txt"}).code, 2);
  write_file(slide_.path("none.txt"), "1 4 3\n 1:1\n");
  const Outcome none = slide_.run({"train", "small.toml", "--set", "data.train=none.txt"});
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.err, "slide: no training sample has a label\n");
}

TEST_F(CliTest, TestMeasuresWhatTrainingMeasured) {
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

// Training, test and predict see the same features, full and through the tables.
TEST_F(CliTest, FeaturesAreScaledAlikeWhereverAModelIsUsed) {
  generate();
  for (const std::string mode : {"full", "lsh"}) {
    ASSERT_EQ(train({"--set", "data.test=data/test.txt", "--set", "data.idf_power=2", "--set",
                     "layer.-1.wide=true", "--set", "train.epochs=4", "--set", "eval.inference=" + mode})
                  .code,
              0);
    const Json trained = events().back();
    const Outcome tested = slide_.run({"test", "out/model.slide", "data/test.txt", "--json"});
    ASSERT_EQ(tested.code, 0) << tested.err;
    if (mode == "full") {  // training asks tables that are older
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

TEST_F(CliTest, TestTakesRanksThreadsAndInference) {
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

TEST_F(CliTest, PredictPrintsOneLineASample) {
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

TEST_F(CliTest, PredictFromStandardInputIsTheSame) {
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

TEST_F(CliTest, ProbabilitiesSumToOneOverWhatWasScored) {
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

TEST_F(CliTest, SigmoidLossPredictsProbabilities) {
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

TEST_F(CliTest, IdsBeyondTheModelAreNamed) {
  train_model();
  write_file(slide_.path("wide.txt"), "2 500 500\n3 1:1 119:1\n400 1:1\n");  // only the header is larger
  EXPECT_EQ(slide_.run({"test", "out/model.slide", "wide.txt"}).code, 0);
  write_file(slide_.path("wide.txt"), "2 500 500\n3 1:1\n3 1:1 120:1\n");
  for (const char* command : {"test", "predict"}) {
    const Outcome refused = slide_.run({command, "out/model.slide", "wide.txt"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("wide.txt:3:7: feature 120"), std::string::npos) << refused.err;
  }
}

TEST_F(CliTest, TestDataMayHaveMoreFeaturesThanTrainingData) {
  write_file(slide_.path("a.svm"), "0 0:1 2:1\n1 1:1\n2 2:1\n");
  write_file(slide_.path("b.svm"), "0 0:1 2:1\n4 9:1\n");
  const Outcome done = slide_.run(
      {"train", "small.toml", "--set", "data.train=a.svm", "--set", "data.test=b.svm", "--out", "out"});
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(slide_.run({"test", "out/model.slide", "b.svm"}).code, 0);
}

TEST_F(CliTest, InspectTellsAboutModelsAndConfigurations) {
  train_model();
  const Outcome model = slide_.run({"inspect", "out/model.slide"});
  ASSERT_EQ(model.code, 0) << model.err;
  for (const char* word : {"300 samples, 120 features, 60 labels", "2,956", "weights", "optimizer state",
                           "workspaces", "8 tables, 128 buckets"}) {
    EXPECT_NE(model.out.find(word), std::string::npos) << word << "\n" << model.out;
  }
  const Outcome config = slide_.run({"inspect", "out/config.toml"});
  ASSERT_EQ(config.code, 0) << config.err;
  EXPECT_NE(config.out.find("2,956"), std::string::npos) << config.out;
  const Outcome sized = slide_.run({"inspect", "small.toml", "--features", "1000000", "--labels", "3000000"});
  ASSERT_EQ(sized.code, 0) << sized.err;
  EXPECT_NE(sized.out.find("67,000,016"), std::string::npos) << sized.out;  // 1e6*16 + 16 + 3e6*17
  const Outcome unsized = slide_.run({"inspect", "small.toml"});
  EXPECT_EQ(unsized.code, 0) << unsized.err;
  EXPECT_NE(unsized.out.find("--features"), std::string::npos);
}

TEST_F(CliTest, HelpVersionAndDocumentation) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"}, {"train", "--help"}, {"test", "-h"}, {"predict", "--help"}}) {
    const Outcome help = slide_.run(arguments);
    EXPECT_EQ(help.code, 0);
    EXPECT_NE(help.out.find("Usage: slide"), std::string::npos);
  }
  const Outcome version = slide_.run({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.out.find("slide "), 0U);
  const Outcome doc = slide_.run({"config", "--doc"});
  EXPECT_EQ(doc.code, 0);
  EXPECT_NE(doc.out.find("`block_size`"), std::string::npos);
}

TEST_F(CliTest, ImagesAreSplitByTrainFirstAndTestLast) {
  const auto number = [](unsigned value) {
    std::string bytes(4, '\0');
    for (int i = 3; i >= 0; --i, value >>= 8)
      bytes[static_cast<std::size_t>(i)] = static_cast<char>(value & 255);
    return bytes;
  };
  std::string images = number(0x803) + number(40) + number(2) + number(2),
              labels = number(0x801) + number(40);
  for (int i = 0; i < 40; ++i) {
    for (int p = 0; p < 4; ++p) images += static_cast<char>(p == i % 4 ? 200 : 3);
    labels += static_cast<char>(i % 4);
  }
  write_file(slide_.path("t-images-idx3-ubyte"), images);
  write_file(slide_.path("t-labels-idx1-ubyte"), labels);
  const std::vector<std::string> arguments = {"train", "small.toml",
                                              "--set", "data.train=t-images-idx3-ubyte",
                                              "--set", "data.test=t-images-idx3-ubyte",
                                              "--out", "out"};
  const auto with = [&](const char* first, const char* last) {
    std::vector<std::string> all = arguments;
    for (const char* more : {"--set", first, "--set", last}) all.emplace_back(more);
    return slide_.run(all);
  };
  const Outcome done = with("data.train_first=30", "data.test_last=10");
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_NE(done.out.find(": 30 samples"), std::string::npos) << done.out;
  EXPECT_NE(done.out.find(": 10 samples"), std::string::npos) << done.out;
  const Outcome test = slide_.run({"test", "out/model.slide", "t-images-idx3-ubyte", "--json"});
  EXPECT_EQ(Json::parse(test.out)["samples"], 10);
  EXPECT_EQ(with("data.train_first=41", "data.test_last=10").code, 2);
  EXPECT_EQ(with("data.train_first=30", "data.test_last=41").code, 2);
}

}  // namespace
}  // namespace slide::test
