// End-to-end tests of `slide train`: files, output and refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/cli/cli_fixture.h"
#include "tests/sanitizers.h"

namespace slide::test {
namespace {

class TrainCommandTest : public CliTest {};

TEST_F(TrainCommandTest, WhatWillNotFitIntoMemoryIsRefusedBeforeItIsTaken) {
  generate();
  const std::vector<std::string> huge = {"--set",
                                         "layer.0.size=500000000"};  // 120 x 5e8 weights and their state
  const Outcome trained = train(huge);
  EXPECT_EQ(trained.code, 2);
  EXPECT_TRUE(contains(trained.err, "training needs"));
  EXPECT_TRUE(contains(trained.err, "MB are free; set a smaller layer.0.size"));
  EXPECT_FALSE(std::filesystem::exists(slide_.path("out/metrics.jsonl")));
  EXPECT_EQ(slide_.run({"tune", "small.toml", "--set", "data.train=data/train.txt", huge[0], huge[1]}).code,
            2);
}

// A single number in a file can request any amount of memory, even before the first weight exists.
TEST_F(TrainCommandTest, ALargeNumberInAFileIsRefusedBeforeAnythingIsMadeForIt) {
  write_file(slide_.path("label.txt"), "0 1:1\n2000000000 1:1\n");
  write_file(slide_.path("feature.txt"), "2 2000000000 3\n0 1:1\n1 2:1\n");
  write_file(slide_.path("known.txt"), "0 0:1\n1 1:1\n");
  write_file(slide_.path("scores.txt"), "0:1\n1:1\n");
  ASSERT_EQ(slide_.run({"train", "known.txt", "--out", "known", "--set", "train.epochs=1"}).code, 0);
  expect_done(slide_.run({"test", "known", "label.txt"}));  // a label that training lacks is missed
  for (const std::string data : {"label.txt", "feature.txt"}) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"train", data, "--out", "large"}, {"tune", data, "--out", "large.toml"}}) {
      expect_refused(slide_.run(command), "training needs");
    }
    // The promise is memory: counts of 2^31 labels would take gigabytes.
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"train", data, "--init", "known", "--out", "more"},
          {"evaluate", "scores.txt", data}}) {
      if (command[0] == "evaluate" && data == "feature.txt") continue;
      expect_refused(slide_.run(command), "need");
    }
    const Outcome told = expect_done(slide_.run({"inspect", data}));
    EXPECT_TRUE(contains(told.out, "2,000,000,00"));
  }
}

TEST_F(TrainCommandTest, TrainWritesConfigMetricsAndModel) {
  generate();
  const Outcome done = expect_done(train({"--set", "data.test=data/test.txt"}));
  EXPECT_EQ(done.err, "");
  EXPECT_TRUE(contains(done.out, "300 samples, 120 features, 60 labels"));
  EXPECT_TRUE(contains(done.out, "loaded in"));
  for (const char* file : {"config.toml", "environment.json", "metrics.jsonl", "model.slide"}) {
    EXPECT_TRUE(std::filesystem::exists(slide_.path(std::string("out/") + file))) << file;
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(slide_.path("out")),
                          std::filesystem::directory_iterator()),
            4);
  const std::vector<Json> lines = events();
  ASSERT_EQ(lines.size(), 7U);
  const std::vector<std::string> start = {"event",        "samples",      "test_samples",
                                          "features",     "labels",       "label_checksums",
                                          "load_seconds", "label_groups", "planned_mb"};
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
                                          "peak_rss_mb",
                                          "active_by_source",
                                          "tables_recall_at_10",
                                          "tables_in_full_buckets",
                                          "tables_largest_bucket"};
  const std::vector<std::string> tables = {"event",   "epoch",         "samples",  "layer",
                                           "buckets", "full_buckets",  "stored",   "largest_bucket",
                                           "filed",   "filed_in_full", "histogram"};
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

TEST_F(TrainCommandTest, TheMeasuresOfTheGroupsOfLabelsAddUp) {
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

TEST_F(TrainCommandTest, ResolvedConfigurationGivesTheSameRun) {
  train_model();
  std::filesystem::create_directories(slide_.path("elsewhere"));
  const Outcome again = expect_done(slide_.run({"train", "out/config.toml", "--out", "elsewhere/again"}));
  EXPECT_EQ(without_timings(events()), without_timings(events("elsewhere/again")));
  EXPECT_EQ(read_file(slide_.path("out/config.toml")), read_file(slide_.path("elsewhere/again/config.toml")));
}

TEST_F(TrainCommandTest, SameSeedSameLossesWhateverTheThreads) {
  generate();
  ASSERT_EQ(train({"--threads", "1"}, "one").code, 0);
  ASSERT_EQ(train({"--threads", "4"}, "four").code, 0);
  ASSERT_EQ(train({"--threads", "4", "--seed", "2"}, "other").code, 0);
  EXPECT_EQ(without_timings(events("one")), without_timings(events("four")));
  EXPECT_TRUE(file("one/model.slide") == file("four/model.slide"));
  EXPECT_NE(without_timings(events("one")), without_timings(events("other")));
}

// With many features, a block has few of them, and fewer the smaller it is: the last batch of an epoch has 76
// samples.
TEST_F(TrainCommandTest, ManyFeaturesAreTheSameModelWhateverTheThreads) {
  expect_done(slide_.run({"generate", "--samples", "1100", "--test-samples", "10", "--features", "60000",
                          "--labels", "500", "--features-per-sample", "12", "--out", "many"}));
  const auto model_of = [&](const char* shards, const char* threads) {
    expect_done(
        slide_.run({"train", "many/train.txt", "--epochs", "3", "--set",
                    "train.shards=" + std::string(shards), "--threads", threads, "--out", "run", "--force"}));
    return file("run/model.slide");
  };
  const std::vector<const char*> several =
      kSanitized ? std::vector<const char*>{"3"} : std::vector<const char*>{"2", "3", "8"};
  for (const char* shards : {"1", "4"}) {
    const std::string one = model_of(shards, "1");
    for (const char* threads : several)
      EXPECT_TRUE(model_of(shards, threads) == one) << shards << " shards, " << threads << " threads";
  }
}

TEST_F(TrainCommandTest, WithoutTestDataThereIsNoEvaluation) {
  generate();
  const Outcome done = expect_done(train({}));
  EXPECT_TRUE(contains(done.out, "data.test is not set"));
  for (const Json& event : events()) EXPECT_NE(event["event"], "eval");
  const Outcome held_out = train({"--set", "data.validation=0.2"});
  EXPECT_FALSE(contains(held_out.out, "no evaluation"));
  EXPECT_TRUE(contains(held_out.out, "the validation samples alone are evaluated"));
}

// The shell counts in units of 512 bytes: the model exceeds 1 MiB, which leaves room for the half that
// ThreadSanitizer needs of a file when a program starts.
TEST_F(TrainCommandTest, ALimitOnTheSizeOfFilesIsLikeAFullDisk) {
  generate();
  slide_.begin_with("ulimit -f 2048");
  expect_refused(train({"--set", "layer.0.size=4000"}), "out/model.slide: cannot be written (File too large)",
                 1);
  no_temporaries("out");
  EXPECT_FALSE(std::filesystem::exists(slide_.path("out/model.slide")));
}

TEST_F(TrainCommandTest, FolderIsNamedAfterTheConfigurationByDefault) {
  generate();
  const Outcome done = expect_done(slide_.run({"train", "small.toml", "--set", "data.train=data/train.txt"}));
  EXPECT_TRUE(std::filesystem::exists(slide_.path("run/small/model.slide")));
  EXPECT_TRUE(contains(done.out, "run/small"));
}

TEST_F(TrainCommandTest, SamplesWithoutLabelsAreSkippedAndCounted) {
  write_file(slide_.path("data.txt"), "5 4 3\n0 0:1\n 1:1\n1 1:1\n\n2 2:1\n");
  const Outcome done = expect_done(
      slide_.run({"train", "small.toml", "--set", "data.train=data.txt", "--set", "data.test=data.txt"}));
  EXPECT_TRUE(contains(done.out, "2 training samples have no label"));
  EXPECT_EQ(slide_.run({"train", "small.toml", "--set", "data.train=none.txt"}).code, 2);
  write_file(slide_.path("none.txt"), "1 4 3\n 1:1\n");
  const Outcome none = slide_.run({"train", "small.toml", "--set", "data.train=none.txt", "--force"});
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.err, fmt::format("slide: {}: no training sample has a label; give data with labels, which "
                                  "stand first in a line of text\n",
                                  slide_.path("none.txt")));
}

TEST_F(TrainCommandTest, TestDataMayHaveMoreFeaturesThanTrainingData) {
  write_file(slide_.path("a.svm"), "0 0:1 2:1\n1 1:1\n2 2:1\n");
  write_file(slide_.path("b.svm"), "0 0:1 2:1\n4 9:1\n");
  expect_done(slide_.run(
      {"train", "small.toml", "--set", "data.train=a.svm", "--set", "data.test=b.svm", "--out", "out"}));
  EXPECT_EQ(slide_.run({"test", "out/model.slide", "b.svm"}).code, 0);
}

TEST_F(TrainCommandTest, ImagesAreSplitByTrainFirstAndTestLast) {
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
  const Outcome done = expect_done(with("data.train_first=30", "data.test_last=10"));
  EXPECT_TRUE(contains(done.out, ": 30 samples"));
  EXPECT_TRUE(contains(done.out, ": 10 samples"));
  const Outcome test = slide_.run({"test", "out/model.slide", "t-images-idx3-ubyte", "--json"});
  EXPECT_EQ(Json::parse(test.out)["samples"], 10);
  EXPECT_EQ(with("data.train_first=41", "data.test_last=10").code, 2);
  EXPECT_EQ(with("data.train_first=30", "data.test_last=41").code, 2);
}

// The OpenMP runtime's own line and end.
TEST_F(TrainCommandTest, ThreadsThatCannotBeStartedAreOneLine) {
  if (kSanitized) GTEST_SKIP() << "sanitizers need more address space than any limit";
  generate();
  slide_.begin_with("ulimit -v 1000000");
  const Outcome done = train({"--threads", "1000"});
  EXPECT_EQ(done.code, 1) << done.err;
  EXPECT_TRUE(done.err.starts_with("slide: out of memory or processes: 1000 threads cannot be started"))
      << done.err;
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
}

}  // namespace
}  // namespace slide::test
