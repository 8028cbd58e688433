// `slide convert` and `slide inspect` read a pipe once and completely.
#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

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
    expect_done(slide_.run(from_file));
    expect_done(piped(one.in, from_pipe));
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
  expect_done(piped("t.tsv", {"convert", "t.tsv", "pipe.xmc", "--fit", "/dev/stdin", more[0], more[1]}));
  EXPECT_EQ(file("pipe.xmc"), file("file.xmc"));
}

TEST_F(PipeTest, InspectedDataAreThoseOfTheFile) {
  const Outcome expected = expect_done(slide_.run({"inspect", "data/train.txt", "--json"}));
  for (const Outcome& found : {piped("data/train.txt", {"inspect", "/dev/stdin", "--json"}),
                               through("p", "data/train.txt", {"inspect", "p", "--json"})}) {
    ASSERT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(Json::parse(found.out)["memory"], Json::parse(expected.out)["memory"]);
  }
  const Outcome told = piped("data/train.txt", {"inspect", "/dev/stdin"});
  EXPECT_TRUE(contains(told.out, "300 samples, 120 features, 60 labels"));
}

TEST_F(PipeTest, ModelsAndTheirTests) {
  ASSERT_EQ(train({"--set", "layer.-1.wide=true"}).code, 0);
  const Strings smaller = {"convert", "out",           "file.slide", "--weights", "int8",
                           "--test",  "data/test.txt", "--json",     "--force"};
  const Outcome expected = expect_done(slide_.run(smaller));
  Strings of_pipe = smaller;
  of_pipe[6] = "/dev/stdin";
  const Outcome tested = expect_done(piped("data/test.txt", of_pipe));
  EXPECT_EQ(tested.out, expected.out);
  expect_done(piped("out/model.slide", {"convert", "/dev/stdin", "pipe.slide", "--weights", "int8"}));
  EXPECT_EQ(file("pipe.slide"), file("file.slide"));
}

TEST_F(PipeTest, WhatCannotBeReadOnceIsRefused) {
  ASSERT_EQ(train({}).code, 0);
  write_file(slide_.path("t.tsv"), "music,rock\tThe cello, the violin\n");
  write_file(slide_.path("log.tsv"), "user\titem\nu1\ti1\nu1\ti2\nu2\ti1\n");
  ASSERT_EQ(slide_.run({"convert", "data/train.txt", "X.a.npz"}).code, 0);
  expect_refused(piped("t.tsv", {"inspect", "/dev/stdin"}), "a pipe can be read only once");
  expect_refused(piped("log.tsv", {"convert", "/dev/stdin", "o.svm", "--from", "interactions"}),
                 "a pipe can be read only once");
  expect_refused(piped("X.a.npz", {"convert", "/dev/stdin", "o.svm"}), "are a second file");
  expect_refused(piped("X.a.npz", {"inspect", "/dev/stdin"}), "are a second file");
  expect_refused(piped("out/model.slide", {"inspect", "/dev/stdin"}), "as a file, not by a pipe");
  expect_refused(piped("out/model.slide", {"convert", "/dev/stdin", "o.svm"}), "as a file, not by a pipe");
  expect_refused(piped("/dev/null", {"convert", "/dev/stdin", "o.svm"}), "the file is empty");
}

}  // namespace
}  // namespace slide::test
