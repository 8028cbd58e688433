// Tests of the input of `slide predict`: sources, formats, malformed rows, and rows that arrive one at a
// time.
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

constexpr const char* kModel = "out/model.slide";

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

// The first `count` lines.
std::string head(const std::string& text, std::size_t count) {
  std::size_t end = 0;
  for (; count > 0; --count) end = text.find('\n', end) + 1;
  return text.substr(0, end);
}

std::string without_header(const std::string& text) {
  return text.substr(text.find('\n') + 1);
}

class PredictInputTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    train_model();
    rows_ = without_header(read_file(slide_.path("data/test.txt")));
  }
  // The rows, repeated.
  std::string many_rows(std::size_t count) const {
    std::string text;
    while (lines_in(text) < count) text += rows_;
    return head(text, count);
  }
  Outcome predict(const std::string& data, const Strings& more = {}) const {
    return slide_.run(Strings{"predict", kModel, data} + more);
  }
  Outcome piped(const std::string& file, const Strings& more = {}) const {
    return slide_.run_behind("cat " + file, Strings{"predict", kModel, "-"} + more);
  }
  Outcome redirected(const std::string& file, const Strings& more = {}) const {
    return slide_.run(Strings{"predict", kModel, "-"} + more, read_file(slide_.path(file)));
  }
  void write_packed(const std::string& name, const std::string& text) const {
    const gzFile file = gzopen(slide_.path(name).c_str(), "wb");
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(gzwrite(file, text.data(), static_cast<unsigned>(text.size())), static_cast<int>(text.size()));
    ASSERT_EQ(gzclose(file), Z_OK);
  }
  void write_zstd(const std::string& name, const std::string& text) const {
    std::string packed(ZSTD_compressBound(text.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
    write_file(slide_.path(name), packed);
  }
  // Both ways of piping give the result of the file.
  void expect_same(const std::string& file) const {
    const Outcome whole = predict(file), from_file = redirected(file), from_pipe = piped(file);
    EXPECT_EQ(from_file.out, whole.out) << file;
    EXPECT_EQ(from_pipe.out, whole.out) << file;
    EXPECT_EQ(from_file.code, whole.code) << file << ": " << from_file.err << whole.err;
    EXPECT_EQ(from_pipe.code, whole.code) << file << ": " << from_pipe.err << whole.err;
  }

  std::string rows_;
};

TEST_F(PredictInputTest, FaultsAreToldWithTheLineOfTheWholeInput) {
  // Exceeds the capacity of a pipe and one read.
  const std::string good = many_rows(10407);
  ASSERT_GT(good.size(), 1U << 20);
  write_file(slide_.path("bad.txt"), good + "1 5:x\n" + rows_);
  const Outcome file = predict("bad.txt");
  EXPECT_EQ(file.code, 2);
  EXPECT_EQ(file.err.find("slide: bad.txt:10408:5: "), 0U) << file.err;
  EXPECT_EQ(lines_in(file.out), 10407U) << "all rows before the bad one are answered";
  for (const Outcome& outcome : {piped("bad.txt"), redirected("bad.txt")}) {
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err.find("slide: standard input:10408:5: "), 0U) << outcome.err;
    EXPECT_EQ(outcome.out, file.out);
  }
}

TEST_F(PredictInputTest, RowsBeforeABadOneAreAnsweredHoweverTheyCome) {
  write_file(slide_.path("good.txt"), head(rows_, 3));
  write_file(slide_.path("bad.txt"), "1 5:x\n");
  const Outcome together = slide_.run_behind("cat good.txt bad.txt", {"predict", kModel, "-"});
  EXPECT_EQ(together.code, 2);
  EXPECT_EQ(lines_in(together.out), 3U);
  EXPECT_EQ(together.err.find("slide: standard input:4:5: "), 0U) << together.err;
  write_file(slide_.path("header.txt"), "9 120 60\n");
  const Outcome headed = slide_.run_behind("cat header.txt good.txt bad.txt", {"predict", kModel, "-"});
  EXPECT_EQ(headed.code, 2);
  EXPECT_EQ(headed.out, together.out);
  EXPECT_EQ(headed.err.find("slide: standard input:5:5: "), 0U) << headed.err;
}

// Also with a header, a row is answered before the input continues or ends.
TEST_F(PredictInputTest, RowsBehindAHeaderAreAnsweredAsTheyCome) {
  const std::string first = head(rows_, 1), second = head(rows_.substr(first.size()), 1);
  write_file(slide_.path("first"), "2 120 60\n" + first);
  write_file(slide_.path("second"), second);
  write_file(slide_.path("talk.sh"),
             fmt::format("set -e; cd {}; mkfifo in out.pipe\n{} < in > out.pipe &\nexec 3> in 4< out.pipe\n"
                         "cat first >&3; timeout 60 head -n 1 <&4 > a\ncat second >&3; timeout 60 head -n 1 "
                         "<&4 > b\nexec 3>&-; wait $!\n",
                         slide_.folder().string(), Program::command({"predict", kModel, "-"})));
  ASSERT_EQ(std::system(fmt::format("bash {}", slide_.path("talk.sh")).c_str()), 0);
  EXPECT_EQ(read_file(slide_.path("a")) + read_file(slide_.path("b")),
            slide_.run({"predict", kModel, "-"}, first + second).out);
}

TEST_F(PredictInputTest, TheSamplesOfAHeaderAreCountedAtTheEnd) {
  const std::string three = head(rows_, 3);
  const auto expect_told = [&](const std::string& text, std::size_t answers, const std::string& fault) {
    write_file(slide_.path("t.txt"), text);
    for (const Outcome& outcome : {predict("t.txt"), piped("t.txt"), redirected("t.txt")}) {
      EXPECT_EQ(outcome.code, fault.empty() ? 0 : 2) << text << outcome.err;
      EXPECT_EQ(lines_in(outcome.out), answers) << text;
      EXPECT_TRUE(contains(outcome.err, fault)) << text;
    }
  };
  expect_told("3 120 60\n" + three, 3, "");
  expect_told("3 120 60\n" + three + "\n \n", 3, "");
  expect_told("5 120 60\n" + three + "\n\n", 5, "");
  expect_told("4 120 60\n" + three, 3, ":5:1: the file ends after 3 samples, but its header says 4");
  expect_told("2 120 60\n" + three + "\n", 2, ":4:1: the header says 2 samples, but the file has 3");
}

// Rows one at a time and in batches, with every component of a score.
TEST_F(PredictInputTest, PipedScoresDoNotDependOnHowRowsArrive) {
  write_file(slide_.path("rows.txt"), head(rows_, 40));
  const std::string slowly = "while read -r row; do echo \"$row\"; sleep 0.02; done < rows.txt";
  for (const char* loss : {"softmax", "sigmoid"}) {
    expect_done(train({"--set", std::string("loss.kind=") + loss, "--set", "layer.1.wide=true", "--set",
                       "neighbours.share=0.4", "--set", "layer.1.logq_correction=false"}));
    const Strings command = {"predict", kModel, "-", "--k", "60"};
    const Outcome together = expect_done(slide_.run_behind("cat rows.txt", command));
    EXPECT_EQ(slide_.run_behind(slowly, command).out, together.out) << loss;
  }
}

TEST_F(PredictInputTest, FormatsAreFoundTheSameWayWhereverTheyComeFrom) {
  write_file(slide_.path("xmc.txt"), "70 120 60\n" + rows_);
  write_file(slide_.path("libsvm.txt"), "# a comment\n" + rows_ + "# another\n");
  write_file(slide_.path("blank.txt"), "\n \n" + rows_ + "\n");
  write_file(slide_.path("bare.txt"), "3 4\n5 6 7\n");
  write_file(slide_.path("numbers.txt"), "3 4 5\n12:1 14:1\n");
  write_file(slide_.path("times.txt"), "12:30 14:30\n1:1\n");
  write_file(slide_.path("words.txt"), "hello world\n");
  write_file(slide_.path("labelled.txt"), "__label__a hello world\n");
  write_packed("packed.gz", rows_);
  write_packed("packed-xmc.gz", "70 120 60\n" + rows_);
  write_zstd("packed.zst", rows_);
  ASSERT_EQ(slide_.run({"convert", "data/test.txt", "X.npz"}).code, 0);
  for (const char* name : {"xmc.txt", "libsvm.txt", "blank.txt", "bare.txt", "numbers.txt", "times.txt",
                           "words.txt", "labelled.txt", "packed.gz", "packed-xmc.gz", "packed.zst", "X.npz"})
    expect_same(name);
  const std::string answers = predict("xmc.txt").out;
  EXPECT_EQ(lines_in(answers), 70U);
  for (const char* name : {"libsvm.txt", "packed.gz", "packed-xmc.gz", "packed.zst", "X.npz"})
    EXPECT_EQ(predict(name).out, answers) << name;
  EXPECT_EQ(lines_in(predict("blank.txt").out), 73U) << "every line is a sample";
}

TEST_F(PredictInputTest, BadRowsAreLeftOutAndCounted) {
  const std::string two = head(rows_, 2);
  write_file(slide_.path("bad.txt"), two + "1 5:x\n" + two + "2 x:1\n7 -3:1\n" + two);
  const std::string pair = slide_.run({"predict", kModel, "-"}, two).out;
  for (const Outcome& outcome : {predict("bad.txt", {"--skip-bad"}), piped("bad.txt", {"--skip-bad"}),
                                 redirected("bad.txt", {"--skip-bad"})}) {
    EXPECT_EQ(outcome.code, 3);
    EXPECT_EQ(outcome.out, pair + "\n" + pair + "\n\n" + pair) << "an empty line for each";
    for (const char* part : {"bad.txt", ":3:5: ", ":6:3: ", ":7:3: ", "3 bad rows were left out"}) {
      if (std::string(part) == "bad.txt" && outcome.err.find("standard input") != std::string::npos) continue;
      EXPECT_TRUE(contains(outcome.err, part)) << " in ";
    }
  }
  write_file(slide_.path("good.txt"), two);
  const Outcome good = expect_done(predict("good.txt", {"--skip-bad"}));
  EXPECT_EQ(good.err, "");
  EXPECT_EQ(good.out, pair);
  std::string worse;
  for (int i = 0; i < 20; ++i) worse += two + "x 1:1\n";
  write_file(slide_.path("worse.txt"), worse);
  const Outcome outcome = piped("worse.txt", {"--skip-bad"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(lines_in(outcome.err), 6U) << "the first five, and how many: " << outcome.err;
  EXPECT_TRUE(contains(outcome.err, "20 bad rows were left out"));
}

TEST_F(PredictInputTest, BadRowsDoNotEndTrainingTestsAndConversions) {
  const std::string all = read_file(slide_.path("data/train.txt"));
  const std::string body = without_header(all), end = body.substr(head(body, 100).size());
  write_file(slide_.path("bad.txt"), "302 120 60\n" + head(body, 100) + "1 x:1\n3 7:nan\n" + end);
  const auto expect_left_out = [&](const Outcome& without, const Outcome& outcome) {
    EXPECT_EQ(without.code, 2) << without.err;
    EXPECT_TRUE(contains(without.err, "bad.txt:102:3: "));
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_EQ(lines_in(outcome.err), 3U) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "bad.txt:102:3: "));
    EXPECT_TRUE(contains(outcome.err, "bad.txt:103:5: "));
    EXPECT_TRUE(contains(outcome.err, "2 bad rows were left out"));
  };
  expect_left_out(slide_.run({"convert", "bad.txt", "c.xmc"}),
                  slide_.run({"convert", "bad.txt", "c.xmc", "--skip-bad"}));
  ASSERT_EQ(slide_.run({"convert", "data/train.txt", "good.xmc"}).code, 0);
  EXPECT_EQ(read_file(slide_.path("c.xmc")), read_file(slide_.path("good.xmc")));

  const Outcome tested = slide_.run({"test", kModel, "bad.txt", "--json", "--skip-bad"});
  expect_left_out(slide_.run({"test", kModel, "bad.txt", "--json"}), tested);
  const Json json = Json::parse(tested.out);
  EXPECT_EQ(json["samples"], 300);
  EXPECT_EQ(json["bad_rows"], 2);

  const auto train_bad = [&](Strings more) {
    return slide_.run(Strings{"train", "small.toml", "--force", "--set", "data.train=bad.txt", "--set",
                              "data.test=data/test.txt", "--out", "again"} +
                      more);
  };
  for (const char* cache : {"data.cache=false", "data.cache=true"}) {
    expect_left_out(train_bad({"--set", cache}), train_bad({"--skip-bad", "--set", cache}));
    EXPECT_EQ(slide_.run({"predict", "again/model.slide", "data/test.txt"}).out, predict("data/test.txt").out)
        << "the rows that are left make the same model";
  }
}

}  // namespace
}  // namespace slide::test
