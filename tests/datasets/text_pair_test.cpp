// Tests of features in one text file and labels in another.
#include "datasets/formats/text_pair.h"

#include <gtest/gtest.h>

#include "datasets/cache.h"
#include "datasets/formats/dense_data.h"
#include "datasets/formats/detect.h"
#include "datasets/reader.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

constexpr const char* kPairFeatures = "3 5\n0:1 4:2\n\n2:0.5\n";
constexpr const char* kPairLabels = "3 4\n1:1 3:1\n0:1\n\n";

class TextPairTest : public ::testing::Test {
 protected:
  static ReadOptions as_they_are() {
    ReadOptions options;
    options.normalize = false;
    return options;
  }
  TemporaryFolder folder_;
};

TEST_F(TextPairTest, LabelsLieBesideTheFeatures) {
  const std::string features = folder_.write("trn_X_Xf.txt", kPairFeatures);
  folder_.write("trn_X_Y.txt", kPairLabels);
  const Dataset data = read_dataset(features, as_they_are());
  const Dataset same = parse_dataset("3 5 4\n1,3 0:1 4:2\n0\n 2:0.5\n", "text", as_they_are());
  EXPECT_EQ(show(data), show(same));
  EXPECT_EQ(data.feature_count(), 5U);
  EXPECT_EQ(data.label_count(), 4U);
}

TEST_F(TextPairTest, BothAreNamed) {
  const std::string features = folder_.write("f.txt", kPairFeatures),
                    labels = folder_.write("l.txt", "1,3\n0\n\n");
  std::string path = features + "," + labels;
  EXPECT_TRUE(is_file_list(path));
  EXPECT_EQ(read_dataset(path, as_they_are()).labels(0).size(), 2U);
  std::vector<std::string> files;
  for_each_file(path, [&](std::string& file) { files.push_back(file); });
  EXPECT_EQ(files, (std::vector<std::string>{features, labels}));
  EXPECT_EQ(path, features + "," + labels);
}

TEST_F(TextPairTest, FeaturesMayHaveNoHeader) {
  const std::string features = folder_.write("f.svm", "1:1 5:2\n3:1\n"),
                    labels = folder_.write("l.txt", "7\n2\n");
  ReadOptions options = as_they_are();
  options.one_based = true;
  const Dataset data = read_dataset(features + "," + labels, options);
  EXPECT_EQ(data.features(0).ids[1], 4U);
  EXPECT_EQ(data.label_count(), 8U);
}

TEST_F(TextPairTest, AFileWithACommaInItsNameIsOne) {
  const std::string path = folder_.write("a,b.txt", "1 2 2\n1 0:1\n");
  EXPECT_FALSE(named_text_pair(path));
  EXPECT_EQ(read_dataset(path).size(), 1U);
}

TEST_F(TextPairTest, TheCacheKnowsWhenLabelsHaveChanged) {
  const std::string features = folder_.write("trn_X_Xf.txt", kPairFeatures);
  const std::string labels = folder_.write("trn_X_Y.txt", kPairLabels);
  EXPECT_EQ(read_dataset_cached(features, {}).outcome, CacheOutcome::kWritten);
  EXPECT_EQ(read_dataset_cached(features, {}).outcome, CacheOutcome::kUsed);
  folder_.write("trn_X_Y.txt", "3 4\n1:1 2:1 3:1\n0:1\n2:1\n");
  const CachedDataset now = read_dataset_cached(features, {});
  EXPECT_EQ(now.outcome, CacheOutcome::kWritten);
  EXPECT_EQ(now.data.labels(2).size(), 1U);
}

TEST_F(TextPairTest, FaultsNameTheFile) {
  const std::string features = folder_.write("f.txt", kPairFeatures);
  const auto error = [&](const std::string& labels) {
    return input_error([&] { read_dataset(features + "," + labels, ReadOptions{}); });
  };
  EXPECT_TRUE(contains(error(folder_.write("few.txt", "1\n2\n")), "labels of 2 samples, but"));
  EXPECT_TRUE(contains(error(folder_.write("bad.txt", "1\nx\n2\n")), "bad.txt:2:1: 'x' is no label"));
  EXPECT_TRUE(contains(error(folder_.path("none.txt")), "none.txt"));
  const std::string alone = input_error([&] { read_dataset(features, ReadOptions{}); });
  EXPECT_TRUE(contains(alone, "name both: " + features + ",LABELS"));
  const std::string both = folder_.write("both.txt", "2 3 4\n1 0:1\n2 1:1\n");
  const std::string twice =
      input_error([&] { read_dataset(both + "," + folder_.write("two.txt", "1\n2\n"), ReadOptions{}); });
  EXPECT_TRUE(contains(twice, "it has labels, and so has"));
}

TEST_F(TextPairTest, RowsWithoutTheirLabelsAreRead) {
  ReadOptions options = as_they_are();
  options.format = DataFormat::kXmc;
  EXPECT_EQ(show(parse_dataset(kPairFeatures, "text", options)),
            show(parse_dataset("3 5 1\n 0:1 4:2\n\n 2:0.5\n", "text", options)));
}

TEST_F(TextPairTest, TwoNumbersAreAHeaderOnlyBeforeFeatures) {
  EXPECT_EQ(detect_format("3 5\n0:1 4:2\n"), DataFormat::kXmc);
  EXPECT_EQ(detect_format("3 5\n\n 4:2\n"), DataFormat::kXmc);
  EXPECT_EQ(detect_format("3 5\n1 4\n2 9 8\n"), DataFormat::kInteractions);
  EXPECT_NE(detect_format("3 5\n1 4:2\n"), DataFormat::kXmc);
}

}  // namespace
}  // namespace slide
