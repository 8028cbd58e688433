// Tests of training and validation parts of a data set.
#include "datasets/rows/split.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/error.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

// `samples` rows of one feature whose value is their index; every third has no label.
Dataset numbered(std::size_t samples) {
  DatasetArrays arrays;
  for (std::size_t i = 0; i < samples; ++i) {
    arrays.feature_ids.push_back(static_cast<std::uint32_t>(i % 7));
    arrays.feature_values.push_back(static_cast<float>(i));
    if (i % 3 != 2) arrays.label_ids.push_back(static_cast<std::uint32_t>(i % 5));
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
    arrays.label_offsets.push_back(arrays.label_ids.size());
  }
  return {std::move(arrays), 7, 5};
}

TEST(Split, EverySampleIsInOnePart) {
  const Dataset data = numbered(60);
  const Split split = split_dataset(data, 0.2, 1000, 3);
  EXPECT_EQ(split.validation.size(), 8u);  // a fifth of the 40 labelled samples
  for (std::size_t i = 0; i < split.validation.size(); ++i) EXPECT_FALSE(split.validation.labels(i).empty());
  Rows all = show(split.train), expected = show(data);
  const Rows rest = show(split.validation);
  all.insert(all.end(), rest.begin(), rest.end());
  std::sort(all.begin(), all.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(all, expected);
  EXPECT_EQ(split.train.feature_count(), 7u);
  EXPECT_EQ(split.validation.label_count(), 5u);
}

TEST(Split, IsAFunctionOfTheSeed) {
  const Dataset data = numbered(60);
  const Rows once = show(split_dataset(data, 0.2, 1000, 3).validation);
  EXPECT_EQ(show(split_dataset(data, 0.2, 1000, 3).validation), once);
  EXPECT_NE(show(split_dataset(data, 0.2, 1000, 4).validation), once);
}

TEST(Split, FoldsShareNoSampleForValidation) {
  const Dataset data = numbered(60);
  Rows validated;
  for (std::size_t fold = 0; fold < 5; ++fold) {
    const Split split = split_dataset(data, 0.2, 1000, 3, fold);
    EXPECT_EQ(split.validation.size(), 8u);
    EXPECT_EQ(split.train.size(), 52u);
    const Rows rows = show(split.validation);
    validated.insert(validated.end(), rows.begin(), rows.end());
  }
  Rows labelled;
  for (const auto& row : show(data)) {
    if (std::find(validated.begin(), validated.end(), row) != validated.end()) labelled.push_back(row);
  }
  EXPECT_EQ(labelled.size(), 40u);                                        // all labelled samples, each once
  EXPECT_EQ(split_dataset(data, 0.2, 1000, 3, 7).validation.size(), 8u);  // the last ones again
}

TEST(Split, ValidationHasAtLeastOneSampleAndAtMostWhatIsAsked) {
  EXPECT_EQ(split_dataset(numbered(60), 0.2, 5, 3).validation.size(), 5u);
  EXPECT_EQ(split_dataset(numbered(60), 0.0, 5, 3).validation.size(), 1u);
  EXPECT_EQ(split_dataset(numbered(3), 1.0, 5, 3).train.size(), 2u);
  EXPECT_THROW(split_dataset(numbered(1), 0.2, 5, 3), InputError);
}

}  // namespace
}  // namespace slide
