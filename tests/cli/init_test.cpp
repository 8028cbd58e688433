// Tests of `slide train --init`: incremental training with new labels, features and words.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <sstream>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTopicTexts[] = {"cello violin concert", "oak birch forest", "goal referee match"};
constexpr const char* kTopicNames[] = {"music", "nature", "sport"};

class InitTest : public CliTest {
 protected:
  // Writes texts of the topics [first, end); topics share no words.
  void write_texts(const std::string& name, int first, int end, int each = 30) {
    std::string lines;
    for (int i = 0; i < each; ++i) {
      for (int topic = first; topic < end; ++topic)
        lines += fmt::format("{}\t{} word{}\n", kTopicNames[topic], kTopicTexts[topic], i % 5);
    }
    write_file(slide_.path(name), lines);
  }
  // XMC text: sample i has label i % labels and two features, from `first` on, that determine it.
  void write_samples(const std::string& name, int samples, int first, int labels, int features) {
    std::string lines = fmt::format("{} {} {}\n", samples, features, first + labels);
    for (int i = 0; i < samples; ++i) {
      const int label = first + i % labels;
      lines += fmt::format("{} {}:1 {}:1 {}:0.3\n", label, 2 * label, 2 * label + 1, features - 1 - i % 3);
    }
    write_file(slide_.path(name), lines);
  }
  Outcome go_on(const std::string& init, const std::string& data, const std::string& out,
                std::vector<std::string> more = {}) {
    return slide_.run(Strings{"train", "--init", init, data, "--out", out} + more);
  }
  void begin(const std::string& data, const std::string& out, std::vector<std::string> more = {}) {
    expect_done(slide_.run(Strings{"train", data, "--out", out} + more));
  }
  // The best label of each line of text.
  std::vector<std::string> best(const std::string& model, const std::string& text) {
    const Outcome done = expect_done(slide_.run({"predict", model, "-", "--k", "1"}, text));
    std::vector<std::string> labels;
    std::istringstream lines(done.out);
    for (std::string line; std::getline(lines, line);) labels.push_back(line.substr(0, line.find(':')));
    return labels;
  }
  double precision(const std::string& model, const std::string& data) {
    const Outcome done = expect_done(slide_.run({"test", model, data, "--json"}));
    return Json::parse(done.out)["p_at_1"].get<double>();
  }
};

TEST_F(InitTest, NewWordsAndLabelsAreFoundAndOldOnesStay) {
  write_texts("old.tsv", 0, 2);
  write_texts("new.tsv", 2, 3);
  begin("old.tsv", "old");
  const Outcome done = expect_done(go_on("old", "new.tsv", "new"));
  EXPECT_TRUE(contains(done.out, "and 1 labels are new"));
  EXPECT_TRUE(contains(done.out, "training 4 epochs"));
  const std::string asked = "the cello concert\nan oak forest\na goal of the match\n";
  EXPECT_EQ(best("new", asked), (std::vector<std::string>{"music", "nature", "sport"}));
  const Json start = events("new").front();
  EXPECT_EQ(start["samples"], 30);
  EXPECT_EQ(start["labels"], 3);
  expect_done(slide_.run({"inspect", "new", "--json"}));
  EXPECT_FALSE(exists("new/start.slide"));
}

TEST_F(InitTest, LargerNumbersAreNewFeaturesAndLabels) {
  write_samples("old.txt", 120, 0, 4, 20);
  write_samples("new.txt", 120, 4, 4, 40);
  for (const std::string kind : {"layer.0.kind=dense", "optimizer.kind=adam"}) {
    begin("old.txt", "old", {"--set", kind, "--force", "--set", "layer.0.size=16"});
    const Outcome done =
        expect_done(go_on("old/model.slide", "new.txt", "new", {"--force", "--threads", "1"}));
    EXPECT_TRUE(contains(done.out, "20 features and 4 labels are new"));
    EXPECT_GT(precision("new", "new.txt"), 0.95) << kind;
    EXPECT_GT(precision("new", "old.txt"), 0.95) << kind;
    ASSERT_EQ(go_on("old", "new.txt", "again", {"--force", "--threads", "2"}).code, 0);
    EXPECT_TRUE(file("new/model.slide") == file("again/model.slide")) << kind;
  }
}

TEST_F(InitTest, SettingsComeFromTheModelAndTheCommandOverThem) {
  write_samples("old.txt", 120, 0, 4, 20);
  write_file(slide_.path("more.toml"),
             "[optimizer]\nlearning_rate = 0.03\n[[layer]]\n[[layer]]\nuniform = 7\n");
  begin("old.txt", "old", {"--set", "layer.0.size=16", "train.seed=7", "train.batch_size=128"});
  ASSERT_EQ(go_on("old", "old.txt", "new",
                  {"--config", "more.toml", "--set", "loss.gradient_threshold=0.1", "--epochs", "2"})
                .code,
            0);
  const std::string config = file("new/config.toml");
  for (const char* line : {"size = 16", "seed = 7", "batch_size = 128", "learning_rate = 0.03", "uniform = 7",
                           "gradient_threshold = 0.1", "epochs = 2"})
    EXPECT_TRUE(contains(config, line));
  ASSERT_EQ(slide_.run({"train", "new/config.toml", "--out", "again"}).code, 0) << "it names the model";
  EXPECT_TRUE(file("new/model.slide") == file("again/model.slide"));
}

TEST_F(InitTest, ImpossibleContinuationsAreRefusedInOneLine) {
  write_samples("old.txt", 60, 0, 4, 20);
  write_texts("old.tsv", 0, 2, 5);
  begin("old.txt", "ids");
  begin("old.tsv", "text");
  expect_refused(go_on("ids", "old.tsv", "new"), "this is text, but the model");
  expect_refused(go_on("text", "old.txt", "new"), "these are features, but the model");
  expect_refused(go_on("ids", "old.txt", "new", {"--set", "layer.0.size=64"}),
                 "'layer.0.size' is 64, but it is 128");
  expect_refused(go_on("ids", "old.txt", "new", {"--set", "loss.kind=softmax"}), "'loss.kind'");
  expect_refused(go_on("text", "old.tsv", "new", {"--set", "text.word_ngrams=1"}), "'text.word_ngrams' is 1");
  expect_refused(go_on("ids", "old.txt", "new", {"--set", "layer.-1.size=2"}),
                 "the last layer has 2 neurons");
  write_file(slide_.path("deep.toml"), "[[layer]]\n[[layer]]\n[[layer]]\n");
  expect_refused(go_on("ids", "old.txt", "new", {"--config", "deep.toml"}),
                 "there are 3 layers, but the model");
  expect_refused(go_on("nowhere", "old.txt", "new"), "nowhere");
  expect_refused(slide_.run({"train", "old.txt", "--forget", "2", "--out", "new"}), "--init MODEL");
  expect_refused(slide_.run({"tune", "old.txt", "--set", "train.init=ids"}), "train.init is set");
  expect_refused(go_on("old.txt", "old.txt", "new"), "no slide model");
  expect_refused(slide_.run({"train", "--resume", "ids", "--init", "ids"}), "--init");
  EXPECT_FALSE(exists("new"));
}

TEST_F(InitTest, LabelsWithoutSamplesAreForgotten) {
  write_texts("all.tsv", 0, 3);
  write_texts("some.tsv", 0, 2);
  begin("all.tsv", "r0");
  ASSERT_EQ(go_on("r0", "some.tsv", "r1", {"--forget", "2", "--epochs", "1"}).code, 0);
  const std::string asked = "a goal of the match\n";
  EXPECT_EQ(best("r1", asked), std::vector<std::string>{"sport"}) << "missing once";
  // the model records the number of epochs
  const Outcome second = expect_done(go_on("r1", "some.tsv", "r2", {"--epochs", "1"}));
  EXPECT_TRUE(contains(second.out, "1 labels are dropped"));
  EXPECT_NE(best("r2", asked), std::vector<std::string>{"sport"});
  EXPECT_EQ(events("r2").front()["labels"], 2);
  ASSERT_EQ(go_on("r2", "all.tsv", "r3").code, 0);
  EXPECT_EQ(best("r3", asked), std::vector<std::string>{"sport"}) << "and it may come back";
}

TEST_F(InitTest, NumbersThatAreForgottenStayAsUnknownLabels) {
  write_samples("all.txt", 120, 0, 6, 20);
  write_samples("some.txt", 120, 0, 3, 20);
  begin("all.txt", "r0");
  const Outcome done = expect_done(go_on("r0", "some.txt", "r1", {"--forget", "1", "--epochs", "1"}));
  EXPECT_TRUE(contains(done.out, "3 labels are dropped"));
  EXPECT_EQ(events("r1").front()["labels"], 6);
  EXPECT_GT(precision("r1", "some.txt"), 0.95);
  const Outcome sure = expect_done(slide_.run({"predict", "r1", "all.txt", "--threshold", "0.1"}));
  for (const char* label : {"0:", "1:", "2:"}) EXPECT_TRUE(contains(sure.out, label));
  for (const char* label : {"3:", "4:", "5:"}) EXPECT_FALSE(contains(sure.out, label));
}

TEST_F(InitTest, AStoppedRunResumesFromItsCheckpoint) {
  write_texts("old.tsv", 0, 2);
  write_texts("new.tsv", 1, 3, 200);
  begin("old.tsv", "old");
  const std::vector<std::string> more = {"--test",
                                         "old.tsv",
                                         "--epochs",
                                         "150",
                                         "--set",
                                         "train.checkpoint_every=3",
                                         "train.batch_size=64",
                                         "train.block_size=16",
                                         "data.validation=0.2"};
  ASSERT_EQ(go_on("old", "new.tsv", "whole", more).code, 0);
  const Strings arguments = Strings{"train", "--init", "old", "new.tsv", "--out", "cut"} + more;
  const pid_t child = slide_.start(arguments, [] {
    dup2(open("child-out", O_WRONLY | O_CREAT | O_TRUNC, 0666), 1);
    dup2(open("child-err", O_WRONLY | O_CREAT | O_TRUNC, 0666), 2);
  });
  ASSERT_TRUE(slide_.appears("cut/checkpoint.slide"));
  kill(child, SIGKILL);
  ASSERT_EQ(wait_for(child), 128 + SIGKILL) << "it ended before it was killed";
  EXPECT_TRUE(exists("cut/start.slide"));
  fs::remove_all(slide_.path("old"));
  const Outcome done = expect_done(slide_.run({"train", "--resume", "cut"}));
  EXPECT_TRUE(contains(done.out, "going on after step"));
  EXPECT_TRUE(file("whole/model.slide") == file("cut/model.slide"));
  EXPECT_EQ(without_timings(events("whole")), without_timings(events("cut")));
  EXPECT_FALSE(exists("cut/start.slide"));
  no_temporaries("cut");
}

TEST_F(InitTest, AFolderMayContinueTheRunThatItHolds) {
  write_texts("old.tsv", 0, 2);
  write_texts("new.tsv", 1, 3);
  begin("old.tsv", "run");
  ASSERT_EQ(go_on("run", "new.tsv", "other").code, 0);
  expect_done(go_on("run", "new.tsv", "run", {"--force"}));
  EXPECT_TRUE(file("run/model.slide") == file("other/model.slide"));
  EXPECT_TRUE(exists("run/previous/model.slide"));
  fs::remove(slide_.path("run/model.slide"));  // as if killed before its first checkpoint
  write_file(slide_.path("run/environment.json"), "{\"finished\": false}\n");
  expect_done(slide_.run({"train", "--resume", "run"}));
  EXPECT_TRUE(file("run/model.slide") == file("other/model.slide"));
}

TEST_F(InitTest, AModelFromAPipeIsReadOnce) {
  write_texts("old.txt", 0, 2);
  write_texts("new.txt", 1, 3);
  begin("old.txt", "old");
  ASSERT_EQ(go_on("old/model.slide", "new.txt", "file").code, 0);
  expect_done(slide_.run_behind("cat old/model.slide",
                                {"train", "--init", "/dev/stdin", "new.txt", "--out", "pipe"}));
  EXPECT_EQ(slide_.run({"predict", "pipe", "new.txt"}).out, slide_.run({"predict", "file", "new.txt"}).out);
}

}  // namespace
}  // namespace slide::test
