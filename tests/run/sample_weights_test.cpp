// Tests of data.sample_weights: equality with a weights column, and invalid combinations.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/run/continue_training.h"
#include "engine/run/run_data.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

class RunSampleWeights : public ::testing::Test {
 protected:
  RunSampleWeights() {
    std::string table = "text,tag,w\n", text, weights;
    for (int i = 0; i < 24; ++i) {
      const std::string weight = i % 4 == 0 ? "0" : fmt::format("{}", 1 + 0.25 * (i % 7));
      table += fmt::format("violin {},tag{},{}\n", i % 7, i % 3, weight);
      text += fmt::format("tag{}\tviolin {}\n", i % 3, i % 7);
      weights += weight + "\n";
    }
    folder_.write("w.csv", table);
    folder_.write("w.tsv", text);
    folder_.write("w.gz", gzip(weights));
  }
  Config config(const std::string& data, std::vector<std::string> more) const {
    more.insert(more.end(), {"data.train=" + folder_.path(data), "text.min_count=1"});
    return resolve_defaults(more);
  }
  std::string file() const { return "data.sample_weights=" + folder_.path("w.gz"); }

  const TemporaryFolder folder_;
};

TEST_F(RunSampleWeights, AreThoseOfAColumn) {
  for (const char* first : {"data.train_first=0", "data.train_first=13"}) {
    const Dataset of_file = read_run_data(config("w.tsv", {first, file()}), 2).train;
    const Dataset of_column =
        read_run_data(config("w.csv", {first, "data.text=text", "data.labels=tag", "data.weight=w"}), 2)
            .train;
    EXPECT_EQ(show(of_file), show(of_column));
    EXPECT_TRUE(std::ranges::equal(of_file.weights(), of_column.weights()));
    EXPECT_EQ(of_file.size(), std::string_view(first).ends_with("13") ? 9U : 18U);
    EXPECT_EQ(of_file.weights().size(), of_file.size());
  }
}

TEST_F(RunSampleWeights, AreNotThoseOfTheContinuedModel) {
  const Config begun = config("w.tsv", {file()});
  EXPECT_EQ(begun.data.sample_weights, folder_.path("w.gz"));
  EXPECT_EQ(continued_config(begun, "model").data.sample_weights, "");
}

TEST_F(RunSampleWeights, AreRefusedWhereTheyDoNotFit) {
  EXPECT_TRUE(
      contains(input_error([&] { read_run_data(config("w.tsv", {file()}), 1, true); }), "--skip-bad"));
  EXPECT_TRUE(contains(input_error([&] {
                         config("w.tsv", {file(), "data.kind=interactions"});
                       }),
                       "'data.sample_weights'"));
  folder_.write("w.gz", "1\n2\n");
  EXPECT_TRUE(contains(input_error([&] { read_run_data(config("w.tsv", {file()}), 1); }),
                       "w.gz:2: the weights end here"));
}

}  // namespace
}  // namespace slide
