// Tests of sample weights from a separate file.
#include "datasets/rows/sample_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "datasets/reader.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

using Weights = std::vector<float>;

class SampleWeights : public ::testing::Test {
 protected:
  Weights read(std::string_view text, std::size_t samples) const {
    return read_weights(folder_.write("w", text), samples, "data.txt");
  }
  // The refusal message after the path.
  std::string refusal(std::string_view text, std::size_t samples) const {
    const std::string message = input_error([&] { read(text, samples); });
    const std::string path = folder_.path("w");
    EXPECT_TRUE(message.starts_with(path)) << message;
    return message.substr(std::min(message.size(), path.size()));
  }
  const TemporaryFolder folder_;
};

TEST_F(SampleWeights, AreANumberALineHoweverPacked) {
  const std::string text = "1\n0\n2.5\n1e-3\n";
  const Weights expected = {1, 0, 2.5F, 1e-3F};
  EXPECT_EQ(read(text, 4), expected);
  EXPECT_EQ(read("1\n0\n2.5\n1e-3", 4), expected) << "without a line end behind the last";
  EXPECT_EQ(read("\xef\xbb\xbf" + text, 4), expected) << "a byte order mark";
  EXPECT_EQ(read("1\r\n0\r\n 2.5\r\n1e-3\r\n", 4), expected);
  EXPECT_EQ(read(gzip(text), 4), expected);
  EXPECT_EQ(read(zstd(text), 4), expected);
}

TEST_F(SampleWeights, ThatDoNotFitTheSamplesAreRefused) {
  EXPECT_EQ(refusal("1\n2\n", 3),
            ":2: the weights end here, but data.txt has 3 samples; give one line for each");
  EXPECT_EQ(refusal("", 3), ":1: the weights end here, but data.txt has 3 samples; give one line for each");
  EXPECT_EQ(refusal("1\n2\n3\n", 2),
            ":3: a weight more than the 2 samples of data.txt; give one line for each");
}

TEST_F(SampleWeights, LinesWithoutANumberFromNothingOnAreRefused) {
  EXPECT_EQ(refusal("1\n\n3\n", 3), ":2: the line is blank; give one weight a line");
  EXPECT_EQ(refusal("1\n \r\n3\n", 3), ":2: the line is blank; give one weight a line");
  for (const char* bad : {"-1", "nan", "inf", "1e39", "x", "1 2", "1,5", "+1"})
    EXPECT_EQ(refusal(fmt::format("1\n{}\n", bad), 2),
              fmt::format(":2: the weight '{}' is no number from 0 on; give one a line", bad));
  EXPECT_NE(input_error([&] { read_weights(folder_.path("none"), 1, "d"); }), "");
}

TEST_F(SampleWeights, GoWithTheRowsOfTheFile) {
  const std::string data = folder_.write("d.txt", "3 2 2\n0 0:1\n1 1:1\n0 1:1\n");
  const Dataset rows = read_dataset(data, {});
  const Dataset weighted = with_weights(rows, {4, 0, 2});
  EXPECT_EQ(show(weighted), show(rows));
  const Dataset part = weighted.slice(1, 2), scaled = weighted_rows(weighted, weighted.weights());
  EXPECT_EQ(Weights(part.weights().begin(), part.weights().end()), (Weights{0, 2}));
  EXPECT_EQ(Weights(scaled.weights().begin(), scaled.weights().end()), (Weights{4 / 3.0F, 2 / 3.0F}));
  EXPECT_THROW(with_weights(rows, {1}), Error);
}

}  // namespace
}  // namespace slide
