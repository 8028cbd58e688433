// Labels beside features: which reading a file of them has, and where both are possible, that it is refused.
#include "datasets/formats/label_lists.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "datasets/formats/npy.h"
#include "datasets/formats/npz_matrix.h"
#include "datasets/reader.h"
#include "engine/base/byte_io.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

class LabelListsTest : public ::testing::Test {
 protected:
  // How many labels there are, and those of each sample.
  Rows read(const std::string& path, std::size_t samples) const {
    return rows_of(read_labels(path, samples, 0, "X.npy"));
  }
  Rows text(const std::string& lines, std::size_t samples) const {
    return read(folder_.write("Y.txt", lines), samples);
  }
  std::string fault(const std::string& lines, std::size_t samples) const {
    return input_error([&] { text(lines, samples); });
  }
  template <class T>
  std::string array(std::string_view type, std::string_view shape, const std::vector<T>& values) const {
    return folder_.write("Y.npy", npy_bytes(type, shape, bytes_of(values)));
  }

  TemporaryFolder folder_;
};

// ---- the header of a text ----

TEST_F(LabelListsTest, AHeaderIsNoRow) {
  EXPECT_EQ(text("3 3\n0:1\n1:1\n", 3), (Rows{"3", "0", "1", ""})) << "the last empty line lacks its end";
  EXPECT_EQ(text("3 3\n0:1\n1:1\n\n", 3), (Rows{"3", "0", "1", ""}));
  EXPECT_EQ(text("3 5\n0,4\n\n1,2\n", 3), (Rows{"5", "0,4", "", "1,2"}));
  EXPECT_EQ(text("2 9\n3\n4\n", 2), (Rows{"9", "3", "4"})) << "one line more than samples";
  EXPECT_EQ(text("3 3\n0\n1\n", 3), (Rows{"3", "0", "1", ""})) << "a list has no label twice";
  EXPECT_EQ(text("\xef\xbb\xbf"
                 "2 9\r\n3:1\r\n4:1\r\n",
                 2),
            (Rows{"9", "3", "4"}))
      << "a byte order mark";
}

TEST_F(LabelListsTest, ListsNeedNone) {
  EXPECT_EQ(text("3,9\n2\n3\n", 3), (Rows{"10", "3,9", "2", "3"}));
  EXPECT_EQ(text("4 9\n2\n3\n", 3), (Rows{"10", "4,9", "2", "3"})) << "of other samples it would be";
  EXPECT_EQ(text("3 9\n2\n11\n", 3), (Rows{"12", "3,9", "2", "11"})) << "there would be too few labels";
}

TEST_F(LabelListsTest, WhatCanBeBothIsRefused) {
  const std::string message = fault("3 9\n2\n3\n", 3);
  EXPECT_TRUE(contains(message,
                       "Y.txt:1:1: this line can be a header 'samples labels' or two labels of the first "
                       "sample; write '3,9' for labels"));
  EXPECT_EQ(text("3 9\n2\n3\n\n", 3), (Rows{"9", "2", "3", ""})) << "as the message says";
}

TEST_F(LabelListsTest, AFileThatIsCutOffIsRefusedByItsOwnHeader) {
  EXPECT_TRUE(contains(fault("4 3\n0:1\n1:1\n", 4),
                       "Y.txt:4:1: the file ends after 2 samples, but its header says 4"));
  EXPECT_TRUE(contains(fault("3 3\n0:1\n1:1", 3), "the file ends after 2 samples, but its header says 3"))
      << "without a line end nothing lies behind";
  EXPECT_TRUE(
      contains(fault("9 3\n0:1\n1:1\n2:1\n", 3), "the file ends after 3 samples, but its header says 9"));
  EXPECT_TRUE(contains(fault("2 3\n0:1\n1:1\n", 3), "labels of 2 samples, but X.npy has 3 rows"));
  EXPECT_TRUE(contains(fault("2 3\n0:1\n1:1\n2:1\n", 2), "labels of 3 samples, but X.npy has 2 rows"));
}

// The same file beside each kind of features.
TEST_F(LabelListsTest, TheSameBesideAllFeatures) {
  ReadOptions options;
  options.normalize = false;
  const std::string y = folder_.write("trn_X_Y.txt", "3 3\n0:1\n1:1\n");
  const std::string xmc = folder_.write("trn_X_Xf.txt", "3 4\n0:1 2:0.5\n1:1\n3:0.2 0:1\n");
  const std::string svm = folder_.write("x.svm", "0:1 2:0.5\n1:1\n3:0.2 0:1\n");
  const std::string npy =
      folder_.write("X.npy", npy_bytes("<f4", "(3, 1)", bytes_of(std::vector<float>{1, 2, 3})));
  for (const std::string& path : {xmc, xmc + "," + y, svm + "," + y, npy + "," + y}) {
    const Dataset data = read_dataset(path, options);
    ASSERT_EQ(data.size(), 3U) << path;
    EXPECT_EQ(data.label_count(), 3U) << path;
    EXPECT_EQ(data.labels(0).front(), 0U) << path;
    EXPECT_EQ(data.labels(1).front(), 1U) << path;
    EXPECT_TRUE(data.labels(2).empty()) << path;
  }
}

// ---- indicator matrices ----

TEST_F(LabelListsTest, TruthValuesAreColumns) {
  const std::vector<char> values = {0, 1, 0, 0, 1, 0, 0, 1};
  EXPECT_EQ(read(array("|b1", "(2, 4)", values), 2), (Rows{"4", "1", "0,3"}));
  EXPECT_EQ(read(array("|b1", "(4, 2)", values), 4), (Rows{"2", "1", "", "0", "1"})) << "two columns, too";
  EXPECT_EQ(read(array("|b1", "(8,)", values), 8).front(), "2") << "one a sample are two classes";
}

TEST_F(LabelListsTest, WholeAndRealNumbersThatAreZeroOrOneAreColumns) {
  const std::vector<std::int64_t> whole = {0, 1, 0, 1, 0, 0, 0, 0, 1};
  EXPECT_EQ(read(array("<i8", "(3, 3)", whole), 3), (Rows{"3", "1", "0", "2"}));
  const std::vector<float> real = {0, 1, 1, 0};
  EXPECT_EQ(read(array("<f4", "(2, 2)", real), 2), (Rows{"2", "1", "0"}));
  const std::vector<std::int32_t> by_column = {1, 0, 1, 0, 0, 0};  // of rows 1 1 0 and 0 0 0
  const std::string header = "\x93NUMPY\x01" + std::string(1, '\0') + "\x46" + std::string(1, '\0') +
                             "{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }";
  std::string bytes = header + std::string(10 + 0x46 - header.size() - 1, ' ') + '\n';
  bytes += bytes_of(by_column);
  EXPECT_EQ(read(folder_.write("Y.npy", bytes), 2), (Rows{"3", "0,1", ""}));
}

TEST_F(LabelListsTest, OtherNumbersAreIds) {
  EXPECT_EQ(read(array<std::int32_t>("<i4", "(2, 2)", {0, 1, 1, 2}), 2), (Rows{"3", "0,1", "1,2"}));
  EXPECT_EQ(read(array<std::int32_t>("<i4", "(2, 2)", {0, -1, 1, 0}), 2), (Rows{"2", "0", "0,1"}))
      << "-1 stands for none";
  EXPECT_EQ(read(array<std::int32_t>("<i4", "(2, 1)", {0, 1}), 2), (Rows{"2", "0", "1"}));
  EXPECT_TRUE(contains(input_error([&] {
                         read(array<float>("<f4", "(2, 2)", {0, 1, 2, 0}), 2);
                       }),
                       "Y.npy: the array has no whole numbers, and is no matrix of 0 and 1 either"));
}

TEST_F(LabelListsTest, WhatCanBeIdsOrColumnsIsRefused) {
  const auto both = [&](const std::string& message) {
    EXPECT_TRUE(contains(message,
                         "every row is 0 and 1, which can be two ids of labels or a column for each of two "
                         "labels; "));
  };
  both(input_error([&] { read(array<std::int32_t>("<i4", "(2, 2)", {0, 1, 1, 0}), 2); }));
  both(fault("0,1\n1,0\n", 2));
  both(fault("0 1\n1 0\n1 0\n", 3));
  // What the messages advise.
  EXPECT_EQ(read(array<char>("|b1", "(2, 2)", {0, 1, 1, 0}), 2), (Rows{"2", "1", "0"}));
  EXPECT_EQ(read(array<std::int32_t>("<i4", "(2, 3)", {0, 1, -1, 1, 0, -1}), 2), (Rows{"2", "0,1", "0,1"}));
  EXPECT_EQ(text("0:1,1:1\n1:1,0:1\n", 2), (Rows{"2", "0,1", "0,1"}));
}

TEST_F(LabelListsTest, RowsOfATextMayBeColumns) {
  EXPECT_EQ(text("0,1,0,0\n1,0,0,1\n0,0,0,0\n", 3), (Rows{"4", "1", "0,3", ""}));
  EXPECT_EQ(text("1 0 0\n0 0 1\n\n", 2), (Rows{"3", "0", "2"})) << "a blank line at the end";
  EXPECT_EQ(text("2 3\n1,0,0\n0,0,1\n", 2), (Rows{"3", "0", "2"})) << "behind a header";
  EXPECT_EQ(text("0,1\n1\n\n", 3), (Rows{"2", "0,1", "1", ""})) << "rows of other lengths are lists";
  EXPECT_EQ(text("0,1\n1,1\n", 2), (Rows{"2", "1", "0,1"})) << "a list has no label twice";
}

// Labels in the rows of features.
TEST_F(LabelListsTest, ColumnsInRowsOfFeaturesAreRefused) {
  for (const std::string text : {"0,0,1,0 1:1\n", "1 4 4\n0,0,1,0 1:1\n"}) {
    const std::string message = input_error([&] { parse_dataset(text, "data", {}); });
    EXPECT_TRUE(
        contains(message, ":1: '0,0,1,0' is a column for each label; write the ids of those that are 1"));
  }
  EXPECT_EQ(parse_dataset("3,1,3 1:1\n", "data", {}).labels(0).size(), 2U) << "ids may repeat";
  EXPECT_EQ(parse_dataset("1 4 159\n0,1,1 1:1\n", "data", {}).labels(0).size(), 2U)
      << "3 columns are not 159";
}

// A matrix of SciPy has columns alone; one of features and one of labels.
TEST_F(LabelListsTest, ASparseMatrixHasColumns) {
  NpzEntries entries{{0, 1, 3}, {1, 0, 3}, {1, 1, 1}};
  const std::string y = folder_.path("Y.npz");
  write_npz_matrix(y, entries, 4);
  EXPECT_EQ(read(y, 2), (Rows{"4", "1", "0,3"}));
}

}  // namespace
}  // namespace slide
