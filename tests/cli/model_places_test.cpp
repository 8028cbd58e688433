// Tests of what stands where a model should: no command hangs on it or reads it without end, all say so in
// one line.
#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.h"
#include "tests/sanitizers.h"

namespace slide::test {
namespace {

namespace fs = std::filesystem;

class ModelPlacesTest : public CliTest {
 protected:
  // Every command that takes a model, with `model`.
  void expect_refused(const std::string& model) {
    const Commands commands = {{"test", model, "data/test.txt"},
                               {"predict", model, "data/test.txt"},
                               {"inspect", model},
                               {"vectors", model},
                               {"serve", model, "--port", "0"},
                               {"convert", model, "converted.slide", "--weights", "int8"},
                               {"average", model, model, "--out", "average.slide"},
                               {"train", "data/train.txt", "--init", model, "--out", "continued"}};
    expect_refused_together(commands, 100);
    EXPECT_FALSE(exists("converted.slide") || exists("average.slide") || exists("continued/model.slide"));
  }
};

TEST_F(ModelPlacesTest, PipesWithoutAWriterAreRefused) {
  generate();
  ASSERT_EQ(mkfifo(slide_.path("pipe").c_str(), 0600), 0);
  expect_refused("pipe");
}

TEST_F(ModelPlacesTest, DevicesAreRefused) {
  generate();
  expect_refused("/dev/zero");
  expect_refused("/dev/null");
}

TEST_F(ModelPlacesTest, DevicesWithoutAnEndAreNoData) {
  generate();
  if (!kSanitized)
    slide_.begin_with("ulimit -v 4000000");  // sanitizers need more address space than any limit
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"train", "/dev/zero", "--out", "run"},
        {"train", "data/train.txt", "--test", "/dev/urandom", "--out", "run"},
        {"evaluate", "data/test.txt", "/dev/zero"},
        {"inspect", "/dev/zero"}}) {
    const Outcome outcome = slide_.run(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, "this is a device, which may have no end"));
  }
}

TEST_F(ModelPlacesTest, FoldersWithoutAModelAreRefused) {
  generate();
  fs::create_directory(slide_.path("folder"));
  expect_refused("folder");
  fs::create_directory(slide_.path("folder/model.slide"));
  expect_refused("folder");
}

TEST_F(ModelPlacesTest, APipeWhoseWriterComesLaterIsRead) {
  generate();
  ASSERT_EQ(slide_.run({"train", "data/train.txt", "--config", "small.toml", "--out", "run"}).code, 0);
  ASSERT_EQ(mkfifo(slide_.path("pipe").c_str(), 0600), 0);
  slide_.begin_with("{ (sleep 1; cat run/model.slide > pipe) & }");
  const Outcome piped = slide_.run({"predict", "pipe", "data/test.txt"});
  slide_.begin_with(":");
  EXPECT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(piped.out, slide_.run({"predict", "run", "data/test.txt"}).out);
}

}  // namespace
}  // namespace slide::test
