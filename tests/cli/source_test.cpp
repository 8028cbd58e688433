// Tests of command line arguments: data or configuration, a run in place of its model, keys, and unknown
// commands.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

namespace fs = std::filesystem;

class SourceTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    generate();
  }
  Outcome fails(const std::vector<std::string>& arguments, const std::string& part) {
    Outcome outcome = slide_.run(arguments);
    expect_refused(outcome, part);
    return outcome;
  }
  void trains(std::vector<std::string> arguments, const std::string& out) {
    arguments.insert(arguments.begin(), "train");
    expect_done(slide_.run(arguments));
    EXPECT_TRUE(exists(out + "/model.slide")) << out;
  }
};

TEST_F(SourceTest, DataTrainsByTheDefaults) {
  trains({"data/train.txt", "--test", "data/test.txt", "--epochs", "2", "--out", "by-data"}, "by-data");
  trains({SLIDE_CONFIGS "/default.toml", "--set", "data.train=data/train.txt", "data.test=data/test.txt",
          "train.epochs=2", "--out", "by-keys"},
         "by-keys");
  EXPECT_EQ(file("by-data/config.toml"), file("by-keys/config.toml"));
  EXPECT_TRUE(file("by-data/model.slide") == file("by-keys/model.slide"));
}

TEST_F(SourceTest, ARunIsNamedAfterItsDataOrItsConfiguration) {
  const std::vector<std::string> small = {"--epochs", "1", "--set", "layer.0.size=8", "layer.-1.uniform=8"};
  const auto named = [&](std::vector<std::string> arguments, const std::string& out) {
    arguments.insert(arguments.end(), small.begin(), small.end());
    trains(arguments, out);
  };
  named({"data/train.txt"}, "run/train");
  fs::copy(slide_.path("data/train.txt"), slide_.path("my.data.txt"));
  named({"my.data.txt"}, "run/my.data");
  named({"small.toml", "--set", "data.train=data/train.txt"}, "run/small");
  named({"--set", "data.train=data/test.txt"}, "run/test");
  named({"--config", "small.toml", "my.data.txt", "--force"}, "run/small");
}

TEST_F(SourceTest, AConfigurationIsKnownByItsNameOrItsFirstLine) {
  const std::string data = "train = \"" + slide_.path("data/train.txt") + "\"\n";
  write_file(slide_.path("sections"), "\n# mine\n[data]\n" + data + "[train]\nepochs = 1\n");
  write_file(slide_.path("keys"), "data." + data + "train.epochs = 1\r\n");
  write_file(slide_.path("nothing"), "# nothing\n");
  trains({"sections", "--out", "a"}, "a");
  trains({"keys", "--out", "b"}, "b");
  trains({"nothing", "--set", "data.train=data/train.txt", "train.epochs=1", "--out", "c"}, "c");
  EXPECT_TRUE(file("a/model.slide") == file("b/model.slide"));
  EXPECT_TRUE(file("a/model.slide") == file("c/model.slide"));
  fails({"train", "/dev/null"}, "the file is empty");
}

TEST_F(SourceTest, AWrongGuessSaysHowToSayIt) {
  write_file(slide_.path("odd"), "a = b and more words\n");
  fails({"train", "odd"}, "odd was taken for a configuration: if it is data, say --set data.train=odd");
  write_file(slide_.path("late"), "\"train\" = {epochs = 1}\n");
  fails({"train", "late", "--set", "data.train=data/train.txt"}, "say --config late");
  trains({"--config", "late", "--set", "data.train=data/train.txt", "--out", "late.run"}, "late.run");
  fails({"train", "data/train.txt", "--set", "data.train=data/train.txt"}, "data.train is given by --set");
  fails({"train", "data/train.txt", "--config", "small.toml", "--set", "data.train=x"},
        "data.train is given twice");
  fails({"train", "data"}, "data: this is a folder");
  fails({"train", "none"}, "none: there is no such file");
  fails({"train", "-"}, "standard input can be read once only");
}

TEST_F(SourceTest, AFileWhoseNameLooksLikeAValueIsTakenAsItIs) {
  fs::copy(slide_.path("data/train.txt"), slide_.path("2024"));
  fs::copy(slide_.path("data/train.txt"), slide_.path("data.train=x"));
  trains({"2024", "--epochs", "1", "--out", "a"}, "a");
  trains({"--epochs", "1", "--out", "b", "--set", "layer.0.size=8", "./data.train=x"}, "b");
}

TEST_F(SourceTest, SeveralKeysBehindOneSet) {
  trains({"--out", "a", "--set", "train.epochs=1", "layer.-1.uniform=8", "layer.0.size=8", "data/train.txt"},
         "a");
  EXPECT_TRUE(contains(file("a/config.toml"), "uniform = 8 "));
  trains({"data/train.txt", "--set=train.epochs=1", "loss.prior=0.5", "--out", "b"}, "b");
  EXPECT_TRUE(contains(file("b/config.toml"), "prior = 0.5"));
  fails({"train", "data/train.txt", "--set", "train.epochs=1", "trian.seed=2"}, "did you mean 'train.seed'");
  fails({"train", "data/train.txt", "train.epochs=1"},
        "'train.epochs=1' is one argument too many; it takes [DATA]");
}

TEST_F(SourceTest, ARunStandsForItsModel) {
  trains({"data/train.txt", "--epochs", "1", "--out", "out"}, "out");
  for (const std::string name : {"predict", "test"}) {
    std::vector<std::string> by_run = {name, "out/", "data/test.txt"},
                             by_model = {name, "out/model.slide", "data/test.txt"};
    if (name == "test") by_run.push_back("--json"), by_model.push_back("--json");
    const Outcome run = expect_done(slide_.run(by_run)), model = expect_done(slide_.run(by_model));
    EXPECT_EQ(run.out.substr(0, 12), model.out.substr(0, 12));
    EXPECT_EQ(run.out.size() > 100, true);
  }
  const Outcome told = expect_done(slide_.run({"inspect", "out"}));
  EXPECT_EQ(told.out.find("model "), 0U);
  fs::create_directories(slide_.path("begun"));
  fs::copy(slide_.path("out/config.toml"), slide_.path("begun/config.toml"));
  fails({"test", "begun", "data/test.txt"}, "begun: the run in this folder has no model yet");
  fails({"inspect", "data"}, "data: this folder holds no run");
}

TEST_F(SourceTest, InspectTellsOfTheDefaultsForData) {
  const Outcome told = expect_done(slide_.run({"inspect", "data/train.txt"}));
  EXPECT_TRUE(contains(told.out, "the defaults\n"));
  EXPECT_TRUE(contains(told.out, "300 samples, 120 features, 60 labels"));
}

// What one must know of data fits a terminal, above all what looks wrong; a configuration is shown in full.
TEST_F(SourceTest, InspectShowsDataOnOneScreen) {
  std::string wide = "text,tags";
  for (int column = 0; column < 40; ++column) wide += fmt::format(",column{}", column);
  wide += '\n';
  for (int row = 0; row < 60; ++row) {
    wide += fmt::format("word w{},a name of a label that has a great many words {}", row % 9, row % 7);
    for (int column = 0; column < 40; ++column) wide += fmt::format(",{}", column);
    wide += '\n';
  }
  write_file(slide_.path("wide.csv"), wide);
  for (const std::vector<std::string>& data :
       {std::vector<std::string>{"inspect", "data/train.txt"},
        {"inspect", "wide.csv", "--set", "data.text=text", "data.labels=tags", "text.min_count=1"}}) {
    const Outcome told = expect_done(slide_.run(data));
    EXPECT_LE(std::count(told.out.begin(), told.out.end(), '\n'), 24) << told.out;
    std::istringstream lines(told.out);
    std::vector<std::string> subjects;
    for (std::string line; std::getline(lines, line); subjects.push_back(line.substr(0, line.find(' '))))
      EXPECT_LE(line.size(), 80U) << line;
    ASSERT_GE(subjects.size(), 5U);
    EXPECT_EQ(std::vector<std::string>(subjects.begin(), subjects.begin() + 5),
              (std::vector<std::string>{"data.train", "form", "labels", "features", "looks"}));
    EXPECT_TRUE(contains(told.out, "training "));
  }
  EXPECT_TRUE(
      contains(slide_.run({"inspect", "small.toml", "--set", "data.train=data/train.txt"}).out, "[train]"));
}

TEST_F(SourceTest, TuneTakesData) {
  expect_done(slide_.run({"tune", "data/train.txt", "--trials", "1", "--set", "train.epochs=1"}));
  EXPECT_TRUE(contains(file("run/train-tuned.toml"), "epochs = 1 "));
  fails({"tune"}, "DATA or CONFIG is required");
}

TEST_F(SourceTest, AFinishedRunIsNotOverwrittenUnasked) {
  trains({"data/train.txt", "--epochs", "1", "--out", "out"}, "out");
  const std::string model = file("out/model.slide");
  const Outcome refused = fails({"train", "data/train.txt", "--epochs", "2", "--out", "out"}, "--force");
  EXPECT_TRUE(contains(refused.err, "--out"));
  EXPECT_TRUE(contains(refused.err, "--resume"));
  EXPECT_TRUE(file("out/model.slide") == model);
  trains({"data/train.txt", "--epochs", "2", "--out", "out", "--force"}, "out");
  EXPECT_TRUE(file("out/previous/model.slide") == model);
  fails({"train", "--resume", "out", "--force"}, "--force");
  fails({"train", "--resume", "out", "--test", "data/test.txt"}, "--test");
}

TEST_F(SourceTest, WhatIsMisspeltIsGuessed) {
  fails({"trian"}, "unknown command 'trian'; did you mean 'train'?");
  fails({"pred"}, "did you mean 'predict'?");
  EXPECT_FALSE(contains(fails({"fly"}, "unknown command 'fly'").err, "mean"));
  fails({"help", "tets"}, "did you mean 'test'?");
  fails({"help", "nope"}, "unknown command 'nope'; see 'slide --help'");
  fails({"train", "data/train.txt", "--epoch", "3"}, "has no option --epoch; did you mean '--epochs'?");
  fails({"test", "out", "data/test.txt", "more"}, "'more' is one argument too many; it takes MODEL DATA");
  fails({"evaluate", "scores.txt"}, "evaluate takes at least 2 arguments, SCORES... DATA; there is 1; see");
  fails({"train", "data/train.txt", "more"}, "several files as a pattern in quotes ('part*.txt')");
}

TEST_F(SourceTest, NamesOfFastTextAreToldApart) {
  const Strings train = {"train", "data/train.txt"};
  fails(train + Strings{"--lr", "0.1"},
        "has no option --lr; it is a key here: --set optimizer.learning_rate=...;");
  fails(train + Strings{"-dim", "9"}, "has no option -dim; it is a key here: --set layer.0.size=...");
  fails(train + Strings{"--wordNgrams=2"}, "--set text.word_ngrams=...");
  fails(train + Strings{"--batch_size", "2"}, "--set train.batch_size=...");
  fails({"train", "-input", "f"}, "has no option -input; give the file alone, [DATA];");
  fails({"predict", "m", "d", "--lr", "2"}, "predict has no option --lr; see");
  for (const Strings& words :
       {Strings{"supervised", "-input", "f"}, Strings{"train", "supervised"},
        Strings{"train", "supervised", "-input", "f", "-output", "m"}, Strings{"train", "supervised", "f"}})
    fails(words, "'supervised' is a command of fastText; write 'slide train FILE --out FOLDER'");
  fails({"quantize"}, "did you mean 'convert'?");
}

// Every key that advice names is one.
TEST_F(SourceTest, KeysForNamesOfOthersExist) {
  for (const char* option : {"lr", "learning-rate", "dim", "hidden", "hidden-size", "batch-size", "bucket",
                             "dropout", "loss", "maxn", "minCount", "minCountLabel", "minn", "neg",
                             "optimizer", "patience", "weight-decay", "wordNgrams"}) {
    const Outcome told =
        fails({"train", "data/train.txt", "--" + std::string(option)}, "it is a key here: --set ");
    const std::size_t at = told.err.find("--set ") + 6;
    const std::string key = told.err.substr(at, told.err.find('=', at) - at);
    EXPECT_EQ(slide_.run({"config", key}).code, 0) << option << ' ' << key;
  }
}

TEST_F(SourceTest, StandardInputIsNoTrainingData) {
  fails({"train", "-"}, "-: training reads its data more than once");
  fails({"train", "--set", "data.train=-"}, "-: training reads its data more than once");
  fails({"train", "data/train.txt", "--test", "-"}, "write the data to a file first");
}

TEST_F(SourceTest, HelpAndVersionAreCommandsToo) {
  EXPECT_EQ(slide_.run({"help"}).out, slide_.run({"--help"}).out);
  EXPECT_EQ(slide_.run({"help", "train"}).out, slide_.run({"train", "--help"}).out);
  EXPECT_EQ(slide_.run({"version"}).out, slide_.run({"--version"}).out);
}

TEST_F(SourceTest, NamesThatAreNoUtf8AreToldApart) {
  fs::copy(slide_.path("data/train.txt"), slide_.path("tr\xe4in.txt"));
  const Outcome told = fails({"train", "tr\xe4in.txt"}, "this name is not UTF-8");
  EXPECT_FALSE(contains(told.err, "--set"));
}

}  // namespace
}  // namespace slide::test
