// End-to-end tests of text: training, prediction of names for plain lines, errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/cli/program.h"
#include "tests/cli/small_config.h"

namespace slide::test {
namespace {

const std::string kConfig =
    small_config({.train = "epochs = 12\nbatch_size = 16\nblock_size = 16\n[text]\nmin_count = 1\n",
                  .output = "kind = \"dense\"\n",
                  .wide = true,
                  .tables = ""});

struct Topic {
  const char* label;
  const char* words[3];
};
constexpr Topic kTopics[] = {{"gärten", {"rose", "tulip", "Ökologie"}},
                             {"music", {"violin", "cello", "choir"}},
                             {"deep learning", {"network", "gradient", "neuron"}},
                             {"cooking", {"oven", "bread", "salt"}}};

// Sample i of topic i mod 4.
std::string sample_text(int i) {
  const Topic& topic = kTopics[i % 4];
  return fmt::format("The {} and {}, {} thing", topic.words[i % 3], topic.words[(i + 1 + i / 4 % 2) % 3],
                     i % 5 == 0 ? "a" : "one");
}

std::string table(int samples) {
  std::string text;
  for (int i = 0; i < samples; ++i) text += fmt::format("{}\t{}\n", kTopics[i % 4].label, sample_text(i));
  return text;
}

std::string fast_text(int samples) {
  std::string text;
  for (int i = 0; i < samples; ++i) {
    std::string label = kTopics[i % 4].label;
    std::replace(label.begin(), label.end(), ' ', '_');
    text += fmt::format("__label__{} {}\n", label, sample_text(i));
  }
  return text;
}

std::string plain(int samples) {
  std::string text;
  for (int i = 0; i < samples; ++i) text += sample_text(i) + "\n";
  return text;
}

Strings lines_of(const std::string& text) {
  Strings lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class TextCliTest : public testing::Test {
 protected:
  void SetUp() override {
    write_file(slide_.path("c.toml"), kConfig);
    write_file(slide_.path("train.tsv"), table(80));
    write_file(slide_.path("test.tsv"), table(12));
  }
  Outcome train(Strings more = {}, const std::string& data = "train.tsv", const std::string& out = "out") {
    return slide_.run(Strings{"train", "c.toml", "--set", "data.train=" + data, "--out", out, "--force"} +
                      more);
  }
  void train_model() { expect_done(train({"--set", "data.test=test.tsv"})); }
  Outcome predict(const Strings& more, const std::string& input = "", const std::string& data = "-") {
    return slide_.run(Strings{"predict", "out/model.slide", data} + more, input);
  }

  Program slide_;
};

TEST_F(TextCliTest, TrainsAndTestsOnText) {
  const Outcome done = expect_done(train({"--set", "data.test=test.tsv"}));
  EXPECT_TRUE(contains(done.out, "4 labels"));
  const Outcome tested = expect_done(slide_.run({"test", "out/model.slide", "test.tsv", "--json"}));
  EXPECT_TRUE(contains(tested.out, "\"p_at_1\":1.0"));
}

// Data of another vocabulary, and labels without training samples.
TEST_F(TextCliTest, TestsAndTrainingTellWhatTheModelDoesNotKnow) {
  const std::string foreign = "music\tqwertz asdfgh\nhistory,music\tyxcvb violin\nhistory\tThe oven\n";
  write_file(slide_.path("foreign.tsv"), foreign);
  const std::string told =
      "foreign.tsv: 1 of 3 samples have no feature that the model knows; unknown are 3 words and 2 labels, "
      "as "
      "often as they occur\n";
  const Outcome trained =
      expect_done(train({"--set", "data.test=foreign.tsv", "--set", "text.word_ngrams=1"}));
  EXPECT_TRUE(contains(trained.out, told));
  const Outcome tested = expect_done(slide_.run({"test", "out/model.slide", "foreign.tsv", "--json"}));
  EXPECT_EQ(tested.err, "slide: " + told);
  EXPECT_TRUE(contains(tested.out,
                       "\"bad_rows\":0,\"samples_without_known_features\":1,\"unknown_features\":3,"
                       "\"unknown_labels\":2}"));
  // Zero counts are not reported.
  const auto told_of = [&](const std::string& rows) {
    write_file(slide_.path("some.tsv"), rows);
    return slide_.run({"test", "out/model.slide", "some.tsv", "--json"}).err;
  };
  EXPECT_EQ(told_of("music\tviolin yxcvb\n"),
            "slide: some.tsv: unknown are 1 words, as often as they occur\n");
  EXPECT_EQ(
      told_of("history\tviolin\nhistory\tviolin\n"),
      "slide: warning: some.tsv: no sample has a label that the model knows, so that there is nothing to "
      "measure: all measures are 0 or no number\n"
      "slide: some.tsv: unknown are 2 labels, as often as they occur\n");
  EXPECT_EQ(told_of("music\t\nmusic\tviolin\n"),
            "slide: some.tsv: 1 of 2 samples have no feature that the model knows\n");
  write_file(slide_.path("same.tsv"), read_file(slide_.path("train.tsv")));
  const Outcome known = slide_.run({"test", "out/model.slide", "same.tsv", "--json"});
  EXPECT_EQ(known.err, "");
  EXPECT_TRUE(contains(known.out, "\"unknown_features\":0,\"unknown_labels\":0}"));
}

TEST_F(TextCliTest, BothFormsGiveTheSameModel) {
  write_file(slide_.path("train.ft"), fast_text(80));
  ASSERT_EQ(train().code, 0);
  ASSERT_EQ(train({}, "train.ft", "ft").code, 0);
  const std::string input = plain(12);
  const std::string table_answers = predict({}, input).out;
  std::string fast = slide_.run({"predict", "ft/model.slide", "-"}, input).out;
  for (std::size_t at; (at = fast.find("deep_learning")) != std::string::npos;) fast[at + 4] = ' ';
  EXPECT_EQ(fast, table_answers);
}

TEST_F(TextCliTest, ThreadsDoNotMatter) {
  ASSERT_EQ(train({"--threads", "1"}).code, 0);
  ASSERT_EQ(train({"--threads", "3"}, "train.tsv", "three").code, 0);
  EXPECT_EQ(predict({}, plain(12)).out, slide_.run({"predict", "three/model.slide", "-"}, plain(12)).out);
}

TEST_F(TextCliTest, PredictsNamesWithProbabilities) {
  train_model();
  const Outcome done = expect_done(predict({"--top-k", "4"}, plain(12)));
  const Strings lines = lines_of(done.out);
  ASSERT_EQ(lines.size(), 12U);
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ(lines[i].substr(0, lines[i].find(':')), kTopics[i % 4].label);
    double sum = 0;
    std::istringstream fields(lines[i]);
    for (std::string field; std::getline(fields, field, '\t');)
      sum += std::stod(field.substr(field.rfind(':') + 1));
    EXPECT_NEAR(sum, 1, 1e-4) << "probabilities of all labels: " << lines[i];
  }
}

TEST_F(TextCliTest, ThresholdAndLogits) {
  train_model();
  const Outcome all = predict({}, plain(4)), some = predict({"--threshold", "0.5"}, plain(4));
  ASSERT_EQ(some.code, 0) << some.err;
  for (const std::string& line : lines_of(some.out)) EXPECT_EQ(line.find('\t'), std::string::npos) << line;
  EXPECT_EQ(predict({"--threshold", "200", "--scores", "logit"}, plain(2)).out, "\n\n")
      << "no label, but a line a sample";
  const Outcome logits = expect_done(predict({"--scores", "logit"}, plain(4)));
  EXPECT_NE(logits.out, all.out);
  EXPECT_EQ(lines_of(logits.out)[0].substr(0, 5), lines_of(all.out)[0].substr(0, 5));
}

TEST_F(TextCliTest, FilesAndStandardInputAreTheSame) {
  train_model();
  write_file(slide_.path("plain.txt"), plain(12));
  const std::string piped = predict({}, plain(12)).out;
  EXPECT_EQ(predict({}, "", "plain.txt").out, piped);
  EXPECT_EQ(predict({}, "", "test.tsv").out, piped) << "labels count for nothing";
  EXPECT_EQ(predict({}, fast_text(12)).out, piped);
}

TEST_F(TextCliTest, FeaturesAreTakenWhateverTheTrainingFormat) {
  ASSERT_EQ(train({"--set", "data.format=text"}).code, 0);
  ASSERT_EQ(slide_.run({"convert", "test.tsv", "f.xmc", "--model", "out/model.slide"}).code, 0);
  EXPECT_EQ(predict({}, "", "f.xmc").out, predict({}, plain(12)).out);
  EXPECT_EQ(predict({"--format", "libsvm"}, "0 0:1\n").code, 0) << "on standard input it must be named";
  EXPECT_EQ(slide_.run({"test", "out/model.slide", "f.xmc"}).out.substr(0, 10),
            slide_.run({"test", "out/model.slide", "test.tsv"}).out.substr(0, 10));
}

// Lines to predict may have labels or not, in either form; malformed labels are not errors.
TEST_F(TextCliTest, LabelsOfLinesToPredictCountForNothing) {
  train_model();
  const std::string lines =
      "violin cello\n__label__music violin cello\n__label__ violin cello\nviolin __label__ cello\n"
      "violin cello __label__\nmusic\tviolin cello\nmusic,,oven\tviolin cello\n,\tviolin cello\n";
  const Outcome done = expect_done(predict({}, lines));
  const Strings answers = lines_of(done.out);
  ASSERT_EQ(answers.size(), 8U);
  EXPECT_EQ(answers[0].substr(0, 6), "music:");
  for (const std::string& answer : answers) EXPECT_EQ(answer, answers[0]);
  write_file(slide_.path("lines.txt"), lines);
  EXPECT_EQ(predict({}, "", "lines.txt").out, done.out);
}

TEST_F(TextCliTest, BlankLinesAndBytesThatAreNoTextAreAnswered) {
  train_model();
  const Outcome done =
      expect_done(predict({"--k", "1"}, std::string("\n\xff\xfe\x80\nviolin cello\n\0\n", 20)));
  const Strings lines = lines_of(done.out);
  ASSERT_EQ(lines.size(), 4U) << done.out;
  EXPECT_EQ(lines[2].substr(0, 6), "music:");
  EXPECT_EQ(predict({}, "").out, "");
}

// A line is answered before the input continues or ends.
TEST_F(TextCliTest, LinesAreAnsweredAsTheyCome) {
  train_model();
  const std::string script = fmt::format(
      "cd {} && mkfifo in out.pipe && ({} predict out/model.slide - --k 1 < in > out.pipe &) && exec 3> in "
      "4< out.pipe"
      " && echo violin >&3 && timeout 60 head -n 1 <&4 > first && echo bread >&3 && timeout 60 head -n 1 <&4 "
      "> second",
      slide_.folder().string(), SLIDE_BINARY);
  ASSERT_EQ(std::system(fmt::format("bash -c '{}'", script).c_str()), 0);
  EXPECT_EQ(read_file(slide_.path("first")).substr(0, 6), "music:");
  EXPECT_EQ(read_file(slide_.path("second")).substr(0, 8), "cooking:");
}

TEST_F(TextCliTest, FeatureLinesAreAnsweredAsTheyCome) {
  write_file(slide_.path("f.txt"), "0 1:1\n1 2:1\n");
  ASSERT_EQ(train({}, "f.txt").code, 0);
  const Outcome all = expect_done(predict({}, "\n 1:1\n\n0 2:1\n"));
  EXPECT_EQ(lines_of(all.out).size(), 4U);
  expect_refused(predict({}, " 1:1\n 2:1\n1 x\n"), "standard input:3:3");
}

TEST_F(TextCliTest, InspectShowsWhatALabelIsMadeOf) {
  train_model();
  const Outcome done = expect_done(
      slide_.run({"inspect", "out/model.slide", "--label", "music", "--label", "deep learning", "--k", "3"}));
  const Strings lines = lines_of(done.out);
  ASSERT_EQ(lines.size(), 18U) << done.out;
  EXPECT_EQ(lines[0].substr(0, 9), "label mus");
  EXPECT_TRUE(contains(lines[0], "20 training samples"));
  EXPECT_EQ(done.out.find("nearest labels"), lines[0].size() + 1);
  std::string features;
  for (int i = 6; i < 9; ++i) features += lines[i] + "\n";
  const bool known = features.find("violin") != std::string::npos ||
                     features.find("cello") != std::string::npos ||
                     features.find("choir") != std::string::npos;
  EXPECT_TRUE(known) << features;
  EXPECT_FALSE(contains(features, "oven")) << "another label's word";
  EXPECT_EQ(lines[9].substr(0, 20), "label deep learning:");
  expect_refused(slide_.run({"inspect", "out/model.slide", "--label", "musik"}),
                 "no such label; did you mean 'music'?");
  expect_refused(slide_.run({"inspect", "c.toml", "--label", "music"}), "--label needs a model");
  EXPECT_TRUE(contains(slide_.run({"inspect", "out/model.slide"}).out, "labels<TAB>text"));
}

TEST_F(TextCliTest, InspectShowsLabelsWithoutNamesByTheirIds) {
  write_file(slide_.path("f.txt"), "0 1:1 3:0.5\n1 2:1\n");
  ASSERT_EQ(train({"--set", "layer.-1.wide=false"}, "f.txt").code, 0);
  const Outcome done = expect_done(slide_.run({"inspect", "out/model.slide", "--label", "1"}));
  EXPECT_TRUE(contains(done.out, "label 1: id 1, 1 training samples"));
  EXPECT_TRUE(contains(done.out, "no linear term"));
  for (const char* name : {"2", "-1", "x", "1x"}) {
    expect_refused(slide_.run({"inspect", "out/model.slide", fmt::format("--label={}", name)}),
                   "ids from 0 to 1");
  }
}

TEST_F(TextCliTest, InspectReadsWeightsOfEitherPrecision) {
  write_file(slide_.path("f.txt"), "0 1:1 3:0.5\n1 2:1\n2 1:1 2:1\n");
  for (const char* weights : {"fp32", "bf16"}) {
    const std::string precision = fmt::format("train.weights={}", weights);
    ASSERT_EQ(train({"--set", precision, "--set", "layer.-1.wide=false"}, "f.txt").code, 0);
    const Outcome done = slide_.run({"inspect", "out/model.slide", "--label", "1"});
    ASSERT_EQ(done.code, 0) << weights << done.err;
    EXPECT_EQ(lines_of(done.out).size(), 5U)
        << done.out;  // the label, two others with their cosines, two headings
  }
}

TEST_F(TextCliTest, Faults) {
  write_file(slide_.path("bad.tsv"), "a\tx\nb x\n");
  expect_refused(train({}, "bad.tsv"), "bad.tsv:2:4: no TAB");
  write_file(slide_.path("rare.tsv"), "a\tx\nb\ty\n");
  expect_refused(train({"--set", "text.min_count=5"}, "rare.tsv"), "lower text.min_count");
  expect_refused(train({"--set", "text.char_ngrams_max=2"}), "text.char_ngrams_min");
  expect_refused(train({"--set", "text.word_ngrams=0"}), "text.word_ngrams");
  expect_refused(train({"--set", "text.weighting=bm25"}), "weighting");
  write_file(slide_.path("plain.txt"), "just words\n");
  expect_refused(train({}, "plain.txt"), "plain.txt:1:1: the format is not clear");
  expect_refused(train({"--set", "data.format=text"}, "plain.txt"), "plain.txt:1:1: no labelled text");
  expect_refused(train({"--set", "data.format=text"}, "missing.txt"), "missing.txt");
  write_file(slide_.path("f.txt"), "0 1:1\n1 2:1\n");
  ASSERT_EQ(train({}, "f.txt").code, 0);
  expect_refused(slide_.run({"test", "out/model.slide", "test.tsv"}), "test.tsv: this is text");
  expect_refused(predict({"--threshold", "nan"}), "--threshold");
  for (const std::string wrong : {"30", "1.3", "-1"}) {
    expect_refused(predict({"--threshold", wrong}),
                   "--threshold: the threshold " + wrong + " is no probability; give one from 0 to 1");
  }
  write_file(slide_.path("th.json"), R"({"threshold":0.5})");
  expect_refused(
      predict({"--threshold", "th.json"}),
      "'th.json' is a file; store its thresholds in a model by slide convert MODEL OUT --threshold");
  expect_refused(predict({"--scores", "odds"}), "--scores");
  expect_refused(predict({"--format", "xls"}), "--format");
}

// Columns of numbers alone are a log in training; a model of text tests on them as on its own form.
TEST_F(TextCliTest, NumbersAreTextForAModelOfText) {
  write_file(slide_.path("n.tsv"), "3\ttea\n1\tjam\n3\ttea 44\n1\tjam 55\n");
  ASSERT_EQ(train({}, "n.tsv").code, 0);
  write_file(slide_.path("numbers.tsv"), "3\t44\n1\t55\n");
  const Outcome tested = expect_done(slide_.run({"test", "out", "numbers.tsv", "--k", "1", "--json"}));
  EXPECT_TRUE(contains(tested.out, "\"samples\":2")) << tested.out;
  expect_done(train({"--set", "data.test=numbers.tsv"}, "n.tsv"));
  expect_done(train({"--set", "data.format=text"}, "numbers.tsv"));
}

}  // namespace
}  // namespace slide::test
