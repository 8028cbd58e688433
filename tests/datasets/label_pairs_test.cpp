// Tests of files of excluded (sample, label) pairs, and data without them.
#include "datasets/sidecar/label_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/datasets/test_files.h"

namespace slide {
namespace {

using Ids = std::vector<std::uint32_t>;

Ids labels_of(const LabelPairs& pairs, std::size_t sample) {
  const auto labels = pairs.of(sample);
  return {labels.begin(), labels.end()};
}

TEST(LabelPairs, AreReadInAnyOrderEachOnce) {
  const TemporaryFolder folder;
  const std::string path = folder.write("filter.txt", "2 7\n0 3\r\n\n 2\t1 \n2 7\n");
  const LabelPairs pairs = read_label_pairs(path, 4, 8);
  EXPECT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs.max_per_sample(), 2U);
  EXPECT_EQ(labels_of(pairs, 0), (Ids{3}));
  EXPECT_EQ(labels_of(pairs, 1), (Ids{}));
  EXPECT_EQ(labels_of(pairs, 2), (Ids{1, 7}));
  EXPECT_EQ(labels_of(pairs, 9), (Ids{}));
  EXPECT_TRUE(pairs.has(2, 7));
  EXPECT_FALSE(pairs.has(2, 3));
  EXPECT_TRUE(LabelPairs().empty());
  EXPECT_EQ(LabelPairs().max_per_sample(), 0U);
}

TEST(LabelPairs, FaultsNameTheirPlace) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& text) {
    const std::string path = folder.write("filter.txt", text);
    const std::string told = input_error([&] { read_label_pairs(path, 4, 8); });
    return told.substr(std::min(told.size(), folder.path("").size()));
  };
  EXPECT_EQ(message("0 1\n4 1\n"), "filter.txt:2:1: sample 4 is out of range; there are 4, counted from 0");
  EXPECT_EQ(message("0 1\n1  8\n"), "filter.txt:2:4: label 8 is out of range; there are 8, counted from 0");
  EXPECT_EQ(message("0 1 2\n"), "filter.txt:1:5: there is more than 'sample label' in this line");
  EXPECT_EQ(message("0\n"), "filter.txt:1:2: '' is no label; a line is 'sample label', both counted from 0");
  EXPECT_EQ(message("a 1\n"),
            "filter.txt:1:1: 'a' is no sample; a line is 'sample label', both counted from 0");
  EXPECT_EQ(message("0 1.5\n"),
            "filter.txt:1:3: '1.5' is no label; a line is 'sample label', both counted from 0");
}

TEST(LabelPairs, LabelsWithoutThemKeepTheFeatures) {
  DatasetArrays arrays;
  arrays.feature_offsets = {0, 1, 2};
  arrays.feature_ids = {4, 2};
  arrays.feature_values = {0.5F, 1.5F};
  arrays.label_offsets = {0, 3, 4};
  arrays.label_ids = {0, 1, 5, 1};
  const Dataset data(std::move(arrays), 6, 6);
  const Dataset kept = labels_without(data, LabelPairs({{0, 1}, {0, 3}, {1, 5}}, 2));
  EXPECT_EQ(Ids(kept.labels(0).begin(), kept.labels(0).end()), (Ids{0, 5}));
  EXPECT_EQ(Ids(kept.labels(1).begin(), kept.labels(1).end()), (Ids{1}));
  EXPECT_EQ(kept.features(1).ids[0], 2U);
  EXPECT_EQ(kept.label_count(), 6U);
}

}  // namespace
}  // namespace slide
