// Tests of several files as one data set on the command line: lists in configurations, patterns, output,
// refusals; and bitwise equality of the model with that of a single file.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

namespace fs = std::filesystem;

using Lines = std::vector<std::string>;

class PartsTest : public CliTest {
 protected:
  // Writes `lines`, split after the first `count`, as parts/a and parts/b with this extension; `text` formats
  // a file.
  using Text = std::function<std::string(const Lines&)>;
  void split(const Lines& lines, std::size_t count, const std::string& end, const Text& text) {
    fs::create_directories(slide_.path("parts"));
    const auto cut = lines.begin() + static_cast<std::ptrdiff_t>(count);
    write_file(slide_.path("parts/a" + end), text({lines.begin(), cut}));
    write_file(slide_.path("parts/b" + end), text({cut, lines.end()}));
  }

  // Trains on two parts, cut at two positions, and on the whole: all models are equal.
  void expect_same_model(const Lines& lines, const std::string& end, const Text& text,
                         const std::vector<std::string>& more = {}) {
    write_file(slide_.path("whole" + end), text(lines));
    const std::string list = fmt::format("data.train=[\"parts/a{0}\", \"parts/b{0}\"]", end);
    split(lines, lines.size() / 2, end, text);
    train_on({"--set", list}, more, "half");
    train_on({"parts/*" + end}, more, "pattern");
    split(lines, lines.size() / 5, end, text);
    train_on({"--set", list}, more, "fifth");
    train_on({"whole" + end}, more, "whole");
    EXPECT_EQ(file("half/config.toml"), file("fifth/config.toml"));
    EXPECT_EQ(file("half/config.toml"), file("pattern/config.toml"));
    EXPECT_TRUE(file("half/model.slide") == file("fifth/model.slide"));
    EXPECT_TRUE(file("half/model.slide") == file("pattern/model.slide"));
    EXPECT_EQ(without_timings(events("half")), without_timings(events("whole")));
    const auto answers = [&](const std::string& run) {
      const Outcome done = expect_done(slide_.run({"predict", run, "whole" + end, "--scores", "logit"}));
      return done.out;
    };
    EXPECT_EQ(answers("half"), answers("whole"));
  }

  void train_on(std::vector<std::string> arguments, const std::vector<std::string>& more,
                const std::string& out) {
    arguments.insert(arguments.begin(), {"train", "--config", "small.toml"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), {"--out", out, "--force"});
    expect_done(slide_.run(arguments));
  }

  void fails(const std::vector<std::string>& arguments, const std::string& part) {
    expect_refused(slide_.run(arguments), part);
  }

  static std::string joined(const Lines& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    return text;
  }
  static Lines words() {
    Lines lines;
    for (int i = 0; i < 120; ++i)
      lines.push_back(fmt::format("l{},m{}\tword{} and word{}", i % 7, i % 3, i % 7, i % 11));
    return lines;
  }
  // The samples of the generated set, without the header.
  Lines samples(const std::string& name) {
    std::istringstream text(file(name));
    Lines lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    lines.erase(lines.begin());
    return lines;
  }
  static std::string xmc(const Lines& lines) {
    return fmt::format("{} 120 60\n", lines.size()) + joined(lines);
  }
};

TEST_F(PartsTest, XmcTextTrainsAsOneFile) {
  generate();
  expect_same_model(samples("data/train.txt"), ".txt", xmc, {"--test", "data/test.txt"});
}

TEST_F(PartsTest, XmcTextWithACacheTrainsAsOneFile) {
  generate();
  expect_same_model(samples("data/train.txt"), ".txt", xmc, {"--set", "data.cache=true"});
  EXPECT_TRUE(exists("parts/a.txt+1.slidecache"));
}

TEST_F(PartsTest, TextTrainsAsOneFile) {
  expect_same_model(words(), ".tsv", joined, {"--set", "text.min_count=1"});
}

TEST_F(PartsTest, TablesTrainAsOneFile) {
  Lines lines;
  for (int i = 0; i < 120; ++i)
    lines.push_back(fmt::format("l{},\"word{}\nand, word{}\",{}", i % 7, i % 7, i % 11, 1 + i % 3));
  expect_same_model(lines, ".csv", [](const Lines& part) { return "label,text,w\n" + joined(part); },
                    {"--set", "data.text=text", "data.labels=label", "data.weight=w", "text.min_count=1"});
}

TEST_F(PartsTest, LogsTrainAsOneFile) {
  Lines lines;  // both parts have pairs of one user
  for (int i = 0; i < 400; ++i) lines.push_back(fmt::format("{} {}", i % 40, i % 40 % 5 * 8 + i / 40 % 8));
  expect_same_model(lines, ".txt", joined, {"--set", "train.epochs=2"});
}

TEST_F(PartsTest, SampleWeightsAreThoseOfAllParts) {
  generate();
  const Lines lines = samples("data/train.txt");
  std::string weights;
  for (std::size_t i = 0; i < lines.size(); ++i) weights += fmt::format("{}\n", 1 + i % 3);
  write_file(slide_.path("weights"), weights);
  expect_same_model(lines, ".txt", xmc, {"--set", "data.sample_weights=weights"});
  write_file(slide_.path("weights"), "1\n2\n");
  fails({"train", "parts/*.txt", "--set", "data.sample_weights=weights", "--out", "no"},
        "parts/a.txt and 1 more has 300 samples");
}

TEST_F(PartsTest, TestPredictAndEvaluateTakeThemToo) {
  train_model();
  split(samples("data/test.txt"), 20, ".txt", xmc);
  write_file(slide_.path("whole.txt"), xmc(samples("data/test.txt")));
  const auto told = [&](std::vector<std::string> arguments) {
    const Outcome done = expect_done(slide_.run(arguments));
    return done.out;
  };
  const auto measures = [&](const std::string& data) {
    Json json = Json::parse(told({"test", "out", data, "--json"}));
    json.erase("seconds");
    return json;
  };
  EXPECT_EQ(measures("parts/*.txt"), measures("whole.txt"));
  const std::string scores = told({"predict", "out", "parts/*.txt", "--k", "3"});
  EXPECT_EQ(scores, told({"predict", "out", "whole.txt", "--k", "3"}));
  write_file(slide_.path("scores"), scores);
  EXPECT_EQ(told({"evaluate", "scores", "parts/?.txt"}), told({"evaluate", "scores", "whole.txt"}));
  const Outcome trained = expect_done(
      train({"--set", "data.test=[\"parts/a.txt\", \"parts/b.txt\"]", "data.validation=parts/*.txt"}));
  EXPECT_TRUE(contains(trained.out, "parts/a.txt and 1 more: 70 samples"));
  EXPECT_TRUE(contains(trained.out, "valid "));
}

TEST_F(PartsTest, ConvertPutsThemIntoOneFile) {
  generate();
  split(samples("data/train.txt"), 100, ".txt", xmc);
  const auto converts = [&](const std::string& in, const std::string& out) {
    expect_done(slide_.run({"convert", in, out}));
    return file(out);
  };
  EXPECT_EQ(converts("parts/*.txt", "joined.svm"), converts("data/train.txt", "whole.svm"));
  split(words(), 50, ".tsv", joined);
  write_file(slide_.path("words.tsv"), joined(words()));
  EXPECT_EQ(converts("parts/*.tsv", "joined.ft"), converts("words.tsv", "whole.ft"));
  EXPECT_EQ(converts("parts/*.tsv", "joined.xmc"), converts("words.tsv", "whole.xmc"));
}

TEST_F(PartsTest, InspectAndTuneReadThem) {
  generate();
  split(samples("data/train.txt"), 100, ".txt", xmc);
  const Outcome inspected = expect_done(slide_.run({"inspect", "parts/*.txt"}));
  EXPECT_TRUE(contains(inspected.out, "300 samples, 120 features, 60 labels"));
  const Outcome tuned =
      expect_done(slide_.run({"tune", "parts/*.txt", "--config", "small.toml", "--trials", "1"}));
  EXPECT_TRUE(exists("run/small-tuned.toml"));
}

TEST_F(PartsTest, ARunIsNamedAfterTheFirstAndResumesWithAll) {
  generate();
  split(samples("data/train.txt"), 100, ".txt", xmc);
  const Outcome done = expect_done(slide_.run({"train", "parts/*.txt", "--epochs", "1"}));
  EXPECT_TRUE(exists("run/a/model.slide"));
  EXPECT_TRUE(contains(done.out, "a.txt and 1 more: 300 samples, 120 features, 60 labels"));
  EXPECT_TRUE(contains(
      file("run/a/config.toml"),
      fmt::format("train = [\"{}\", \"{}\"]", slide_.path("parts/a.txt"), slide_.path("parts/b.txt"))));
  const Outcome page = expect_done(slide_.run({"report", "run/a", "-o", "page.html"}));
  EXPECT_TRUE(contains(file("page.html"), "a.txt and 1 more (300 samples)"));
}

TEST_F(PartsTest, BadRowsOfAllAreCounted) {
  split({"1 1:1", "2 x:1", "2 2:1", "3 y:1", "1 3:1", "z 1:1", "2 2:1"}, 3, ".svm", joined);
  const Outcome done = slide_.run({"train", "parts/*.svm", "--skip-bad", "--epochs", "1"});
  EXPECT_EQ(done.code, 3) << done.err;
  EXPECT_TRUE(contains(done.err, "parts/a.svm:2:"));
  EXPECT_TRUE(contains(done.err, "parts/b.svm:1:"));
  EXPECT_TRUE(contains(done.err, "3 bad rows were left out"));
  fails({"train", "parts/b*.svm", "--out", "no"}, "parts/b.svm:1:");
}

TEST_F(PartsTest, WhatIsNoDataSetIsRefused) {
  generate();
  split({"1 1:1", "2 2:1"}, 1, ".svm", joined);
  fails({"train", "parts/*.none"}, "parts/*.none: there is no such file, and the pattern matches none");
  fails({"train", "--set", "data.train=parts/*.none"}, "and the pattern matches none");
  fails({"train", "--set", "data.train=[\"parts/a.svm\", \"data/train.txt\"]"},
        "train.txt: this is XMC text, but ");
  fails({"train", "--set", "data.train=[\"parts/a.svm\", \"gone.svm\"]"}, "gone.svm: no such file");
  fails({"train", "--set", "data.train=[]"}, "'data.train' must be a file, or a list of files, not []");
  fails({"train", "--set", "data.train=[1]"}, "'data.train' must be a file, or a list of files, not");
  fails({"train", "--set", "data.validation=[\"\"]"}, "'data.validation' must be a number");
}

TEST_F(PartsTest, AFileOfTheVeryNameIsThatFile) {
  generate();
  split(samples("data/train.txt"), 100, ".txt", xmc);
  fs::copy(slide_.path("parts/a.txt"), slide_.path("parts/[ab].txt"));
  const Outcome done = expect_done(slide_.run({"train", "parts/[ab].txt", "--epochs", "1", "--out", "run"}));
  EXPECT_TRUE(contains(done.out, "parts/[ab].txt: 100 samples"));
}

}  // namespace
}  // namespace slide::test
