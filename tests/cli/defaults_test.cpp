// A configuration with only paths trains the model of configs/default.toml, bit for bit.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace slide::test {
namespace {

TEST(DefaultsTest, NothingButPathsTrainsTheModelOfDefaultToml) {
  const Program slide;
  ASSERT_EQ(slide
                .run({"generate", "--samples", "600", "--features", "300", "--labels", "120", "--seed", "1",
                      "--out", "data"})
                .code,
            0);
  write_file(slide.path("paths.toml"), "[data]\ntrain = \"" + slide.path("data/train.txt") + "\"\ntest = \"" +
                                           slide.path("data/test.txt") + "\"\n");
  const std::vector<std::string> rest = {"--set", "train.epochs=1", "--quiet", "--out"};
  const auto train = [&](std::vector<std::string> arguments, const std::string& out) {
    arguments.insert(arguments.begin(), "train");
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    arguments.push_back(out);
    expect_done(slide.run(arguments));
    return read_file(slide.path(out + "/model.slide"));
  };
  const std::string by_paths = train({"paths.toml"}, "by-paths");
  const std::string by_file = train({std::string(SLIDE_CONFIGS) + "/default.toml", "--set",
                                     "data.train=data/train.txt", "--set", "data.test=data/test.txt"},
                                    "by-file");
  EXPECT_GT(by_paths.size(), 100000U);
  EXPECT_TRUE(by_paths == by_file) << "weights, tables' seeds, configuration and all";
}

}  // namespace
}  // namespace slide::test
