// Tests of dense features in .npy files, with labels and sparse features.
#include "datasets/formats/dense_data.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "datasets/formats/npy.h"
#include "datasets/formats/npz.h"
#include "datasets/reader.h"
#include "datasets/rows/sample_weights.h"
#include "datasets/rows/split.h"
#include "engine/base/byte_io.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

using Floats = std::vector<float>;

Floats row_of(const Dataset& data, std::size_t i) {
  Floats row(data.dense_count());
  data.dense().copy_row(i, row.data());
  return row;
}

std::string shape(std::size_t rows, std::size_t columns) {
  return fmt::format("({}, {})", rows, columns);
}

class DenseTest : public ::testing::Test {
 protected:
  DenseTest() { options_.normalize = false; }

  std::string floats(const std::string& name, std::size_t rows, const Floats& values) const {
    return folder_.write(name, npy_bytes("<f4", shape(rows, values.size() / rows), bytes_of(values)));
  }
  template <class T>
  std::string numbers(const std::string& name, std::string_view type, std::string_view sizes,
                      const std::vector<T>& values) const {
    return folder_.write(name, npy_bytes(type, sizes, bytes_of(values)));
  }
  Rows labels(const std::string& text, std::size_t samples = 3, std::uint32_t limit = 0) const {
    return rows_of(read_labels(folder_.write("Y.txt", text), samples, limit, "X.npy"));
  }
  std::string fault_of(const std::string& path) const {
    return input_error([&] { read_dataset(path, options_); });
  }

  TemporaryFolder folder_;
  ReadOptions options_;
};

TEST_F(DenseTest, ReadsFloatsWithLabelsBesideThem) {
  const std::string x = floats("X.trn.npy", 2, {1, -2, 3, 0, 0, 0.5});
  numbers<std::int32_t>("Y.trn.npy", "<i4", "(2,)", {4, 0});
  const Dataset data = read_dataset(x, options_);
  EXPECT_EQ(show(data), (Rows{"4|", "0|"}));
  EXPECT_EQ(data.feature_count(), 3U);
  EXPECT_EQ(data.dense_count(), 3U);
  EXPECT_EQ(data.sparse_count(), 0U);
  EXPECT_EQ(data.label_count(), 5U);
  EXPECT_EQ(row_of(data, 0), (Floats{1, -2, 3}));
  EXPECT_EQ(row_of(data, 1), (Floats{0, 0, 0.5}));
}

TEST_F(DenseTest, ScalesRowsToUnitLength) {
  const std::string x = floats("X.npy", 3, {3, -4, 0, 0, 1e-30F, 0});
  folder_.write("Y.txt", "1\n0\n2\n");
  options_.normalize = true;
  const Dataset data = read_dataset(x, options_);
  EXPECT_EQ(row_of(data, 0), (Floats{0.6F, -0.8F}));
  EXPECT_EQ(row_of(data, 1), (Floats{0, 0})) << "zeros stay";
  EXPECT_NEAR(row_of(data, 2)[0], 1.0F, 1e-6F);
}

// All float16 values, against the definition in IEEE 754.
TEST_F(DenseTest, WidensEveryHalf) {
  std::vector<std::uint16_t> halves;
  Floats expected;
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const std::uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023;
    if (exponent == 31) continue;
    const double value = exponent == 0 ? std::ldexp(fraction, -24)
                                       : std::ldexp(1024.0 + fraction, static_cast<int>(exponent) - 25);
    halves.push_back(static_cast<std::uint16_t>(bits));
    expected.push_back(static_cast<float>(bits >= 0x8000 ? -value : value));
  }
  const std::string x = numbers("X.npy", "<f2", shape(halves.size() / 8, 8), halves);
  const DenseRows rows = read_dense_rows(x, options_);
  ASSERT_EQ(rows.size(), halves.size() / 8);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Floats row(8);
    rows.copy_row(i, row.data());
    for (std::size_t c = 0; c < 8; ++c)
      ASSERT_EQ(std::bit_cast<std::uint32_t>(row[c]), std::bit_cast<std::uint32_t>(expected[i * 8 + c]));
  }
}

TEST_F(DenseTest, ReadsPackedRows) {
  const std::string bytes = npy_bytes("<f4", "(2, 1)", bytes_of(Floats{7, 8}));
  folder_.write("Y.txt", "0\n1\n");
  for (const auto& [name, packed] :
       {std::pair("X.npy.gz", gzip(bytes)), std::pair("X.npy.zst", zstd(bytes))}) {
    const Dataset data = read_dataset(folder_.write(name, packed), options_);
    EXPECT_EQ(row_of(data, 1), Floats{8}) << name;
    EXPECT_EQ(show(data), (Rows{"0|", "1|"})) << name;
  }
}

TEST_F(DenseTest, NamesTheFilesOfASet) {
  EXPECT_FALSE(dense_paths("a/X.npz"));
  EXPECT_FALSE(dense_paths("a.npy.txt"));
  EXPECT_EQ(dense_paths("a/X.npy")->beside, "");
  EXPECT_EQ(dense_paths("X.npy,Y.npz")->rows, "X.npy");
  EXPECT_EQ(dense_paths("X.npy,Y.npz")->beside, "Y.npz");
  EXPECT_FALSE(dense_paths("X.npy,Y.npz")->samples);
  EXPECT_EQ(dense_paths("X.npy.gz+X.npz,Y.npz")->rows, "X.npy.gz");
  EXPECT_EQ(dense_paths("X.npy.gz+X.npz,Y.npz")->beside, "X.npz,Y.npz");
  EXPECT_TRUE(dense_paths("X.npy.gz+X.npz,Y.npz")->samples);
  EXPECT_EQ(dense_paths("X.npy,Y.npy")->rows, "X.npy");
}

TEST_F(DenseTest, TakesSparseFeaturesFromOtherData) {
  const std::string x = floats("dense.npy", 2, {1, 2, 3, 4});
  const std::string xmc = folder_.write("train.txt", "2 10 3\n0,2 1:1 9:2\n1 4:1\n");
  const Dataset data = read_dataset(x + "+" + xmc, options_);
  EXPECT_EQ(show(data), (Rows{"0,2|1:1 9:2", "1|4:1"}));
  EXPECT_EQ(data.feature_count(), 12U);
  EXPECT_EQ(data.sparse_count(), 10U);
  EXPECT_EQ(row_of(data, 1), (Floats{3, 4}));
  write_npz(read_dataset(xmc, options_), {folder_.path("a.npz"), folder_.path("b.npz")});
  const std::string pair = x + "+" + folder_.path("a.npz") + "," + folder_.path("b.npz");
  EXPECT_EQ(show(read_dataset(pair, options_)), show(data));
  EXPECT_EQ(show(read_dataset(x + "," + folder_.path("b.npz"), options_)), (Rows{"0,2|", "1|"}));
}

TEST_F(DenseTest, ReadsRowsOfLabels) {
  const std::string y = numbers<std::int64_t>("Y.npy", "<i8", "(2, 3)", {5, -1, 2, 3, 3, -7});
  const LabelLists lists = read_labels(y, 2, 0, "X.npy");
  EXPECT_EQ(lists.ids, (std::vector<std::uint32_t>{2, 5, 3}));
  EXPECT_EQ(lists.offsets, (std::vector<std::uint64_t>{0, 2, 3}));
  EXPECT_EQ(lists.count, 6U);
}

TEST_F(DenseTest, ReadsLinesOfLabels) {
  EXPECT_EQ(labels("3,1\n\n2"), (Rows{"4", "1,3", "", "2"}));
  EXPECT_EQ(labels("1 1\t0\r\n4\r\n\r\n"), (Rows{"5", "0,1", "4", ""}));
  EXPECT_EQ(labels("1:0.5 2:0\n0:1\n7\n\n\n"), (Rows{"8", "1", "0", "7"})) << "blank lines at the end";
  EXPECT_EQ(labels("3 9\n1\n2\n3\n"), (Rows{"9", "1", "2", "3"})) << "a line with sizes";
  EXPECT_EQ(labels("3,9\n2\n3\n"), (Rows{"10", "3,9", "2", "3"})) << "a line with labels";
  EXPECT_EQ(labels("1\n2\n0\n", 3, 20).front(), "20");
}

TEST_F(DenseTest, TellsFaultsInLinesOfLabels) {
  const auto fault = [&](const std::string& text, std::uint32_t limit = 0) {
    return input_error([&] { labels(text, 3, limit); });
  };
  EXPECT_TRUE(contains(fault("1\n2 x\n3\n"), "Y.txt:2:3: 'x' is no label"));
  EXPECT_TRUE(contains(fault("1\n#tag\n3\n"), "Y.txt:2:1: '#tag' is no label; give the ids"));
  EXPECT_TRUE(contains(fault("1\n#tag\n3\n"), "without names and comments"));
  EXPECT_TRUE(contains(fault("1\n2\n1:nan\n"), "Y.txt:3:1: '1:nan' is no label"));
  EXPECT_TRUE(contains(fault("1\n-2\n3\n"), "Y.txt:2:1: '-2' is no label"));
  EXPECT_TRUE(contains(fault("1\n2\n"), "labels of 2 samples, but X.npy has 3 rows"));
  EXPECT_TRUE(contains(fault("1\n2\n3\n4\n"), "labels of 4 samples, but X.npy has 3 rows"));
  EXPECT_TRUE(contains(fault("1\n2\n9\n", 9), "label 9 of line 3 is out of range; ids must be below 9"));
  EXPECT_TRUE(contains(fault("1\n2\n99999999999999999999\n"), "Y.txt:3:1"));
  EXPECT_TRUE(contains(fault("3 2\n1\n2\n0\n"), "Y.txt:1:1: the first line says that there are 2 labels"));
}

TEST_F(DenseTest, RefusesWhatIsNoMatrixOfFloats) {
  folder_.write("Y.txt", "0\n1\n");
  const auto fault = [&](const std::string& bytes) { return fault_of(folder_.write("X.npy", bytes)); };
  EXPECT_TRUE(contains(fault("rubbish"), "X.npy: the file is no NumPy array"));
  EXPECT_TRUE(
      contains(fault(npy_bytes("<f8", "(2, 1)", bytes_of(std::vector<double>{1, 2}))), "the type 'f8'"));
  EXPECT_TRUE(contains(fault(npy_bytes("<f4", "(2,)", bytes_of(Floats{1, 2}))), "has 1 dimensions"));
  EXPECT_TRUE(contains(fault(npy_bytes("<f4", "(0, 4)", "")), "the matrix is empty"));
  EXPECT_TRUE(contains(fault(npy_bytes("<f4", "(-2, 1)", bytes_of(Floats{1, 2}))), "has a negative size"));
  EXPECT_TRUE(contains(fault(npy_bytes("<f4", "(2, 3)", bytes_of(Floats{1}))), "cut off"));
  EXPECT_TRUE(contains(fault(npy_bytes("<f4", "(2, 1)", bytes_of(Floats{1, 2, 3}))), "another size"));
  std::string by_column = npy_bytes("<f4", "(2, 2)", bytes_of(Floats{1, 2, 3, 4}));
  by_column.replace(by_column.find("False"), 5, "True ");
  EXPECT_TRUE(contains(fault(by_column), "numpy.ascontiguousarray"));
  EXPECT_EQ(fault(npy_bytes("<f4", "(2, 1)", bytes_of(Floats{1, 2}))), "");
}

TEST_F(DenseTest, RowsOfTinyNumbersGetUnitLength) {
  folder_.write("Y.txt", "0\n1\n2\n");
  const Dataset data = read_dataset(floats("X.npy", 3, {1e-45F, 0, 3e-42F, -4e-42F, 3, 4}), {});
  std::vector<float> row(2);
  const std::vector<Floats> expected = {{1, 0}, {0.6F, -0.8F}, {0.6F, 0.8F}};
  for (std::size_t i = 0; i < 3; ++i) {
    data.dense().copy_row(i, row.data());
    for (std::size_t c = 0; c < 2; ++c) EXPECT_NEAR(row[c], expected[i][c], 1e-3F) << i;
  }
}

TEST_F(DenseTest, RefusesNumbersThatAreNotFinite) {
  folder_.write("Y.txt", "0\n1\n");
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    const std::string fault = fault_of(floats("X.npy", 2, {1, 2, 3, bad}));
    EXPECT_TRUE(contains(fault, "X.npy: row 1, column 1 (from 0) holds no finite number"));
  }
  for (const int bad : {0x7c00, 0xfc00, 0x7e01}) {
    const std::string x =
        numbers<std::uint16_t>("X.npy", "<f2", "(2, 1)", {0x3c00, static_cast<std::uint16_t>(bad)});
    EXPECT_TRUE(contains(fault_of(x), "row 1, column 0")) << bad;
  }
}

TEST_F(DenseTest, WantsTheSameSamplesInBothFiles) {
  const std::string x = floats("X.npy", 2, {1, 2});
  EXPECT_TRUE(contains(fault_of(x), "its labels are a second file"));
  const std::string one = folder_.write("one.txt", "1 2 2\n0 1:1\n");
  EXPECT_TRUE(contains(fault_of(x + "+" + one), "X.npy: 2 rows, but "));
  EXPECT_TRUE(contains(fault_of(x + "," + folder_.path("none.txt")), "none.txt: no such file"));
}

TEST_F(DenseTest, WantsTheColumnsThatAreKnown) {
  const std::string x = floats("X.npy", 2, {1, 2, 3, 4});
  const std::string y = folder_.write("Y.txt", "0\n1\n");
  options_.dense_columns = 2;
  EXPECT_EQ(read_dataset(x, options_).dense_count(), 2U);
  options_.dense_columns = 3;
  EXPECT_TRUE(contains(fault_of(x), "X.npy: 2 columns, but 3 are known"));
  EXPECT_TRUE(
      contains(fault_of(folder_.write("a.txt", "1 2 2\n0 1:1\n")), "no dense features, but 3 columns"));
}

TEST_F(DenseTest, PartsKeepTheirRows) {
  const std::string x = floats("X.npy", 4, {0, 1, 2, 3});
  folder_.write("Y.txt", "0\n1\n2\n3\n");
  const Dataset data = read_dataset(x, options_);
  const Dataset slice = data.slice(1, 3);
  EXPECT_EQ(row_of(slice, 0), Floats{1});
  const std::array<std::uint32_t, 2> rows = {2, 0};
  const Dataset copy = copy_rows(slice, rows);
  EXPECT_EQ(row_of(copy, 0), Floats{3});
  EXPECT_EQ(row_of(copy, 1), Floats{1});
  EXPECT_EQ(show(copy), (Rows{"3|", "1|"}));
  EXPECT_EQ(row_of(copy.slice(1, 1), 0), Floats{1});
  const std::array<float, 4> weights = {1, 0, 0, 3};
  const Dataset weighted = weighted_rows(data, weights);
  EXPECT_EQ(row_of(weighted, 1), Floats{3});
  EXPECT_EQ(weighted.dense_count(), 1U);
}

}  // namespace
}  // namespace slide
