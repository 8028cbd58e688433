// Tests of label texts: lines of name and text, feature rows, and training sets with them.
#include "datasets/sidecar/label_texts.h"
#include "datasets/label_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "datasets/data_writer.h"
#include "datasets/formats/npz.h"
#include "datasets/rows/split.h"
#include "datasets/text_learner.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

using Numbers = std::vector<std::uint32_t>;

Numbers labels_of(const Dataset& data) {
  Numbers labels;
  for (std::size_t i = 0; i < data.size(); ++i) labels.push_back(data.labels(i).front());
  return labels;
}

class TextsOfLabels : public ::testing::Test {
 protected:
  std::shared_ptr<const TextModel> learn(std::string_view data, const LabelTexts* texts,
                                         std::uint32_t min_labels = 1, int threads = 1) const {
    TextOptions options;
    options.min_label_count = min_labels;
    options.word_ngrams = 1;
    ReadOptions read;
    read.threads = threads;
    return learn_text_file(folder_.write("d.tsv", data), read, options, false, texts);
  }
  std::string refusal(std::string_view text) const {
    return input_error([&] { LabelTexts(folder_.write("t", text)); }).substr(folder_.path("t").size());
  }
  std::string refused_features(std::string_view rows, std::size_t labels) const {
    return input_error([&] { read_label_features(folder_.write("f", rows), {}, labels, "data.txt"); })
        .substr(folder_.path("f").size());
  }
  const TemporaryFolder folder_;
};

TEST_F(TextsOfLabels, BringLabelsAndWordsOfTheirOwn) {
  const std::string data = "music\tviolin cello\nnature\tforest violin\n";
  const LabelTexts texts(folder_.write("t", "dance\tballet forest\nmusic\tcello\r\nmusic\tcello ballet\n"));
  const auto plain = learn(data, nullptr), told = learn(data, &texts);
  EXPECT_FALSE(plain->label_id("dance"));
  EXPECT_EQ(told->label_id("dance"), 2U) << "behind those that samples have";
  EXPECT_EQ(plain->vocabulary(), 1U);  // only violin is in two samples
  EXPECT_EQ(told->vocabulary(), 4U);
  EXPECT_EQ(told->samples(), 5U);
  for (const int threads : {2, 3}) EXPECT_EQ(learn(data, &texts, 1, threads)->digest(), told->digest());

  const LabelTextRows rows = label_text_rows(texts, *told, true);
  EXPECT_EQ(labels_of(rows.rows), (Numbers{0, 0, 2}));
  EXPECT_EQ(rows.rows.features(0).ids.size(), 1U);
  EXPECT_EQ(rows.rows.features(1).ids.size(), 2U);
  EXPECT_EQ(rows.rows.feature_count(), told->feature_count());
  EXPECT_EQ(rows.unknown, 0U);
  const LabelTextRows strange = label_text_rows(texts, *plain, true);
  EXPECT_EQ(strange.unknown, 1U);
  EXPECT_EQ(strange.empty, 2U) << "violin alone is known";
}

TEST_F(TextsOfLabels, AreLabelsHoweverFewSamplesTheyHave) {
  const LabelTexts texts(folder_.write("t", "rare\tviolin\n"));
  const auto told = learn("often\tviolin\noften\tviolin\nrare\tcello\nother\tcello\n", &texts, 2);
  EXPECT_EQ(told->label_count(), 2U);
  EXPECT_TRUE(told->label_id("rare"));
}

TEST_F(TextsOfLabels, MayBeTheirNames) {
  const LabelTexts names("names");
  EXPECT_TRUE(names.are_names());
  const auto told =
      learn("read-cache.c\tviolin\nread-tree.c,rare/one\tviolin\nread-tree.c\tcello\n", &names, 1);
  EXPECT_EQ(told->label_count(), 3U);
  EXPECT_EQ(told->samples(), 6U);
  const LabelTextRows rows = label_text_rows(names, *told, true);  // `read` and `c` are in two of them
  EXPECT_EQ(labels_of(rows.rows), (Numbers{0, 2}));
  EXPECT_EQ(rows.empty, 1U);
}

TEST_F(TextsOfLabels, AreRefusedWithFileAndLine) {
  EXPECT_TRUE(refusal("a\tb\nc d\n").starts_with(":2: no TAB stands between a label and its text"));
  EXPECT_TRUE(refusal("a\tb\n\n").starts_with(":2: no TAB stands"));
  EXPECT_TRUE(refusal("a\tb\n \tb\n").starts_with(":2: no label stands before the TAB"));
  EXPECT_TRUE(refusal("").starts_with(":1: the file is empty"));
  EXPECT_TRUE(contains(input_error([&] { LabelTexts(folder_.path("none")); }), "none: no such file"));
}

TEST_F(TextsOfLabels, MayBeFeaturesInRows) {
  const auto read = [&](const std::string& path) { return read_label_features(path, {}, 2, "data.txt"); };
  for (const char* rows : {"3 9 0\n 1:2 8:1\n\n 4:1\n", "3 9\n1:2 8:1\n\n4:1\n", "1:2 8:1\n7:0\n4:1\n"}) {
    const LabelTextRows told = read(folder_.write("f", rows));
    EXPECT_EQ(labels_of(told.rows), (Numbers{0, 2})) << rows;
    EXPECT_EQ(told.rows.features(0).ids[1], 8U);
    EXPECT_EQ(told.rows.feature_count(), 9U);
    EXPECT_EQ(told.rows.label_count(), 3U);
    EXPECT_EQ(told.empty, 1U);
  }
  DatasetArrays arrays;
  arrays.feature_offsets = {0, 1, 3}, arrays.feature_ids = {2, 0, 3}, arrays.feature_values = {1, 1, 1};
  arrays.label_offsets = {0, 0, 0};
  write_npz(Dataset(std::move(arrays), 4, 0), {folder_.path("X.lbl.npz"), folder_.path("Y.lbl.npz")});
  EXPECT_EQ(labels_of(read(folder_.path("X.lbl.npz")).rows), (Numbers{0, 1}));
}

TEST_F(TextsOfLabels, OfFeaturesAreRefusedWithWhatIsWrong) {
  EXPECT_TRUE(
      refused_features("2 9 0\n 1:2\n 4:1\n", 3).starts_with(": it has 2 rows, but data.txt has 3 labels"));
  EXPECT_TRUE(refused_features("2 9 1\n0 1:2\n 4:1\n", 2).starts_with(": rows have labels of their own"));
  EXPECT_TRUE(refused_features("2 9 0\n 1:x\n 4:1\n", 2).starts_with(":2:4: "));
  EXPECT_TRUE(refused_features("", 2).starts_with(":1:1: the first line is blank"));
}

class RowsWithTexts : public ::testing::Test {
 protected:
  static Dataset rows(Numbers labels, std::uint32_t count) {
    DatasetArrays arrays;
    for (std::uint32_t i = 0; i < labels.size(); ++i) {
      arrays.feature_ids.push_back(i);
      arrays.feature_values.push_back(1);
      arrays.feature_offsets.push_back(i + 1);
      arrays.label_offsets.push_back(i + 1);
    }
    arrays.label_ids = std::move(labels);
    return Dataset(std::move(arrays), 20, count);
  }
  const Dataset all_ = with_label_texts(rows({0, 1, 0, 1, 0, 1, 0, 1}, 2), rows({0, 2}, 3), 1, 2);
};

TEST_F(RowsWithTexts, CountSamplesAlone) {
  EXPECT_EQ(all_.size(), 10U);
  EXPECT_EQ(all_.samples(), 8U);
  EXPECT_EQ(all_.label_count(), 3U);
  EXPECT_EQ(all_.label_frequencies(), (Numbers{4, 4, 0}));
  EXPECT_EQ(all_.slice(2, 7).label_texts(), 1U);
  EXPECT_EQ(all_.slice(8, 2).label_texts(), 2U);
  EXPECT_EQ(all_.slice(9, 1).label_texts(), 1U);
  EXPECT_EQ(all_.slice(2, 3).label_texts(), 0U);
  EXPECT_EQ(all_.slice(2, 7).label_frequencies(), (Numbers{3, 3, 0}));
  EXPECT_TRUE(all_.weights().empty());
}

TEST_F(RowsWithTexts, WeighSoMuch) {
  const Dataset light = with_label_texts(rows({0, 1}, 2), rows({1}, 2), 0.25F, 1);
  EXPECT_EQ(std::vector<float>(light.weights().begin(), light.weights().end()),
            (std::vector<float>{1, 1, 0.25F}));
}

TEST_F(RowsWithTexts, HoldNoneOfThemOut) {
  const Dataset plain = all_.slice(0, 8);
  for (std::size_t fold = 0; fold < 3; ++fold) {
    const Split split = split_dataset(all_, 0.25, 100, 7, fold),
                without = split_dataset(plain, 0.25, 100, 7, fold);
    EXPECT_EQ(split.validation.label_texts(), 0U);
    EXPECT_EQ(split.train.label_texts(), 2U);
    EXPECT_EQ(split.train.size(), 8U);
    ASSERT_EQ(split.validation.size(), without.validation.size());
    for (std::size_t i = 0; i < split.validation.size(); ++i)
      EXPECT_EQ(split.validation.features(i).ids[0], without.validation.features(i).ids[0]);
    EXPECT_EQ(split.train.labels(7).front(), 2U);
  }
}

}  // namespace
}  // namespace slide
