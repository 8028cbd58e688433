// `slide convert` and `slide inspect` read a pipe once and completely.
#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

using Strings = std::vector<std::string>;

class PipeTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    generate();
  }
  // Runs the command with `file` piped to standard input.
  Outcome piped(const std::string& file, const Strings& arguments) {
    return slide_.run_behind("cat " + file, arguments);
  }
  // The same through a named pipe for `file`, with standard input free.
  Outcome through(const std::string& fifo, const std::string& file, const Strings& arguments) {
    slide_.begin_with(fmt::format("rm -f {0}; mkfifo {0}; {{ cat {1} > {0} & }}", fifo, file));
    Outcome outcome = slide_.run(arguments);
    slide_.begin_with(":");
    return outcome;
  }
  void expect_bad(const Outcome& outcome, const std::string& part) {
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  }
};

TEST_F(PipeTest, ConvertedDataAreThoseOfTheFile) {
  write_file(slide_.path("t.tsv"), "music,rock\tThe cello, the violin\nbirds\tsinging birds\n");
  write_file(slide_.path("t.csv"), "text,labels\nthe cello,music\nsinging birds,birds\n");
  const Strings columns = {"--set", "data.text=text", "--set", "data.labels=labels"};
  const Strings words = {"--set", "text.min_count=1"};
  struct {
    std::string in, end;
    Strings more;
  } const cases[] = {
      {"data/train.txt", ".svm", {}}, {"data/train.txt", ".ft", {}},
      {"t.tsv", ".ft", {}},           {"t.tsv", ".xmc", words},
      {"t.csv", ".ft", columns},      {"t.tsv", ".xmc", {words[0], words[1], "--from", "text"}}};
  for (const auto& one : cases) {
    Strings from_file = {"convert", one.in, "file" + one.end},
            from_pipe = {"convert", "/dev/stdin", "pipe" + one.end};
    from_file.insert(from_file.end(), one.more.begin(), one.more.end());
    from_pipe.insert(from_pipe.end(), one.more.begin(), one.more.end());
    const Outcome expected = slide_.run(from_file), found = piped(one.in, from_pipe);
    ASSERT_EQ(expected.code, 0) << expected.err;
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(file("pipe" + one.end), file("file" + one.end)) << one.in;
  }
  EXPECT_EQ(piped("data/train.txt", {"convert", "/dev/stdin", "X.pipe.npz"}).code, 0);
  EXPECT_EQ(through("p", "data/train.txt", {"convert", "p", "fifo.svm"}).code, 0);
  EXPECT_EQ(file("fifo.svm"), file("file.svm"));
}

TEST_F(PipeTest, WordsAreLearntFromAPipe) {
  write_file(slide_.path("t.tsv"), "music,rock\tThe cello, the violin\nbirds\tsinging birds\n");
  const Strings more = {"--set", "text.min_count=1"};
  ASSERT_EQ(slide_.run({"convert", "t.tsv", "file.xmc", "--fit", "t.tsv", more[0], more[1]}).code, 0);
  const Outcome done =
      piped("t.tsv", {"convert", "t.tsv", "pipe.xmc", "--fit", "/dev/stdin", more[0], more[1]});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_EQ(file("pipe.xmc"), file("file.xmc"));
}

TEST_F(PipeTest, InspectedDataAreThoseOfTheFile) {
  const Outcome expected = slide_.run({"inspect", "data/train.txt", "--json"});
  ASSERT_EQ(expected.code, 0) << expected.err;
  for (const Outcome& found : {piped("data/train.txt", {"inspect", "/dev/stdin", "--json"}),
                               through("p", "data/train.txt", {"inspect", "p", "--json"})}) {
    ASSERT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(Json::parse(found.out)["memory"], Json::parse(expected.out)["memory"]);
  }
  const Outcome told = piped("data/train.txt", {"inspect", "/dev/stdin"});
  EXPECT_NE(told.out.find("300 samples, 120 features, 60 labels"), std::string::npos) << told.out;
}

TEST_F(PipeTest, ModelsAndTheirTests) {
  ASSERT_EQ(train({"--set", "layer.-1.wide=true"}).code, 0);
  const Strings smaller = {"convert", "out",           "file.slide", "--weights", "int8",
                           "--test",  "data/test.txt", "--json",     "--force"};
  const Outcome expected = slide_.run(smaller);
  ASSERT_EQ(expected.code, 0) << expected.err;
  Strings of_pipe = smaller;
  of_pipe[6] = "/dev/stdin";
  const Outcome tested = piped("data/test.txt", of_pipe);
  EXPECT_EQ(tested.code, 0) << tested.err;
  EXPECT_EQ(tested.out, expected.out);
  const Outcome read = piped("out/model.slide", {"convert", "/dev/stdin", "pipe.slide", "--weights", "int8"});
  EXPECT_EQ(read.code, 0) << read.err;
  EXPECT_EQ(file("pipe.slide"), file("file.slide"));
}

TEST_F(PipeTest, WhatCannotBeReadOnceIsRefused) {
  ASSERT_EQ(train({}).code, 0);
  write_file(slide_.path("t.tsv"), "music,rock\tThe cello, the violin\n");
  write_file(slide_.path("log.tsv"), "user\titem\nu1\ti1\nu1\ti2\nu2\ti1\n");
  ASSERT_EQ(slide_.run({"convert", "data/train.txt", "X.a.npz"}).code, 0);
  expect_bad(piped("t.tsv", {"inspect", "/dev/stdin"}), "a pipe can be read only once");
  expect_bad(piped("log.tsv", {"convert", "/dev/stdin", "o.svm", "--from", "interactions"}),
             "a pipe can be read only once");
  expect_bad(piped("X.a.npz", {"convert", "/dev/stdin", "o.svm"}), "are a second file");
  expect_bad(piped("X.a.npz", {"inspect", "/dev/stdin"}), "are a second file");
  expect_bad(piped("out/model.slide", {"inspect", "/dev/stdin"}), "as a file, not by a pipe");
  expect_bad(piped("out/model.slide", {"convert", "/dev/stdin", "o.svm"}), "as a file, not by a pipe");
  expect_bad(piped("/dev/null", {"convert", "/dev/stdin", "o.svm"}), "the file is empty");
}

}  // namespace
}  // namespace slide::test
