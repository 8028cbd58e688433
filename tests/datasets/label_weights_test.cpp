// Tests of label weights: from a file, by number or name, and by frequency.
#include "datasets/sidecar/label_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "datasets/rows/dataset.h"
#include "datasets/rows/split.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

using LabelNumbers = std::vector<float>;

class LabelWeightsOfFile : public ::testing::Test {
 protected:
  LabelWeightsOfFile() {
    TextModelParts parts;
    for (const char* name : {"new jazz", "rock", "folk"}) parts.label_names.add(name);
    names_ = std::make_unique<const TextModel>(TextOptions{}, std::move(parts));
  }
  LabelNumbers read(std::string_view text, bool named) const {
    return read_label_weights(folder_.write("w", text), 3, named ? names_.get() : nullptr, "data.txt");
  }
  // The refusal message after the path.
  std::string refusal(std::string_view text, bool named) const {
    const std::string message = input_error([&] { read(text, named); });
    const std::string path = folder_.path("w");
    EXPECT_TRUE(message.starts_with(path)) << message;
    return message.substr(std::min(message.size(), path.size()));
  }
  const TemporaryFolder folder_;
  std::unique_ptr<const TextModel> names_;
};

TEST_F(LabelWeightsOfFile, AreANumberALine) {
  const LabelNumbers expected = {1, 0, 2.5F};
  for (const bool named : {false, true}) {
    EXPECT_EQ(read("1\n0\n2.5\n", named), expected);
    EXPECT_EQ(read("1\r\n0\r\n2.5", named), expected);
    EXPECT_EQ(read(gzip("1\n0\n2.5\n"), named), expected);
  }
}

TEST_F(LabelWeightsOfFile, AreThoseOfNamesAndElseOne) {
  EXPECT_EQ(read("folk\t2.5\nnew jazz\t0\n", true), (LabelNumbers{0, 1, 2.5F}));
  EXPECT_EQ(read("rock\t 3\r\n", true), (LabelNumbers{1, 3, 1}));
}

TEST_F(LabelWeightsOfFile, ThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal("1\n2\n", false),
            ":2: the weights end here, but data.txt has 3 labels; give one line for each");
  EXPECT_EQ(refusal("1\n2\n3\n4\n", true),
            ":4: a weight more than the 3 labels of data.txt; give one line for each");
  EXPECT_EQ(refusal("1\n\n3\n", false), ":2: the line is blank; give one weight a line");
  EXPECT_EQ(refusal("0\n0\n0\n", false), ": all weights are 0; give some labels one");
  for (const char* bad : {"-1", "nan", "inf", "x", "rock\t2"})
    EXPECT_TRUE(contains(refusal(fmt::format("1\n{}\n2\n", bad), false), "is no number from 0 on"));
}

TEST_F(LabelWeightsOfFile, NamesThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal("rock\t1\npunk\t2\n", true), ":2: data.txt has no label 'punk'; leave the line out");
  EXPECT_EQ(refusal("rock\t1\nrock\t2\n", true), ":2: the label 'rock' has a weight already; give it one");
  EXPECT_EQ(refusal("rock\t1\nfolk 2\n", true), ":2: no TAB stands between a label and its weight");
  EXPECT_EQ(refusal("rock\t1\n\n", true), ":2: the line is blank; give a label, a TAB and its weight");
  for (const char* bad : {"-1", "nan", "inf", "", "1 2"})
    EXPECT_EQ(refusal(fmt::format("rock\t{}\n", bad), true),
              fmt::format(":1: the weight '{}' is no number from 0 on; give one behind the TAB", bad));
  EXPECT_EQ(refusal("rock\t0\nfolk\t0\nnew jazz\t0\n", true), ": all weights are 0; give some labels one");
}

TEST(LabelWeightsOfPower, HaveTheMeanOneOverAllPairs) {
  const std::vector<std::uint32_t> frequencies = {100, 25, 4, 0, 1}, pairs = {50, 25, 4, 0, 1};
  for (const double power : {-1.0, -0.5, 0.25, 1.0}) {
    const LabelNumbers weights = power_weights(frequencies, pairs, power);
    double sum = 0.0;
    for (std::size_t l = 0; l < pairs.size(); ++l) sum += pairs[l] * double(weights[l]);
    EXPECT_NEAR(sum / 80, 1.0, 1e-6) << power;
    EXPECT_NEAR(weights[2] / weights[0], std::pow(0.04, power), 1e-5 * std::pow(0.04, power)) << power;
    EXPECT_EQ(weights[3], weights[4]) << power;
  }
  EXPECT_EQ(power_weights(frequencies, frequencies, 0), LabelNumbers(5, 1.0F));
}

TEST(LabelWeightsOfData, GoWithRowsAndNotWithOtherLabels) {
  DatasetArrays arrays;
  arrays.feature_offsets.resize(5);
  arrays.label_offsets = {0, 1, 2, 3, 4};
  arrays.label_ids = {0, 1, 1, 0};
  const Dataset plain(std::move(arrays), 3, 2);
  const Dataset data = plain.with_label_weights(std::make_shared<const LabelNumbers>(LabelNumbers{1, 2}));
  const auto has = [](const Dataset& rows) {
    return std::ranges::equal(rows.label_weights(), LabelNumbers{1, 2});
  };
  EXPECT_TRUE(plain.label_weights().empty());
  EXPECT_TRUE(has(data) && has(data.slice(1, 2)) && has(split_dataset(data, 0.5, 9, 1).train));
  EXPECT_TRUE(has(data.with_counts(9, 2)));
  EXPECT_TRUE(data.with_counts(3, 5).label_weights().empty());
  EXPECT_TRUE(data.with_labels(1, 1).label_weights().empty());
  EXPECT_THROW(plain.with_label_weights(std::make_shared<const LabelNumbers>(LabelNumbers{1})), Error);
}

}  // namespace
}  // namespace slide
