// Tests of Data from memory: borrowed arrays, copied arrays, refused input.
#include <gtest/gtest.h>
#include <slide/data.h>

#include <cmath>
#include <limits>

#include "engine/api/internals.h"
#include "tests/api/samples.h"
#include "tests/expect.h"

namespace slide::api {
namespace {

using test::Samples;

// A data set as a list of rows: labels, ids and values.
std::vector<std::vector<double>> rows_of(const Data& data) {
  std::vector<std::vector<double>> rows;
  const Dataset& set = Internals::of(data).rows;
  for (std::size_t i = 0; i < set.size(); ++i) {
    std::vector<double>& row = rows.emplace_back();
    for (const std::uint32_t label : set.labels(i)) row.push_back(label);
    row.push_back(-1);
    for (const std::uint32_t id : set.features(i).ids) row.push_back(id);
    for (const float value : set.features(i).values) row.push_back(double{value});
  }
  return rows;
}

// Two samples with labels {1} and {0, 2}, and four features.
struct Small {
  std::vector<std::int64_t> offsets{0, 3, 4}, label_offsets{0, 1, 3};
  std::vector<std::int32_t> ids{0, 2, 3, 1}, labels{1, 0, 2};
  std::vector<float> values{1, 2, 3, 4};

  Data data() const {
    return Data::from_csr({offsets, ids, values.data(), 4}, {label_offsets, labels, nullptr, 3});
  }
  std::string refusal() const {
    return input_error([&] { data(); });
  }
};

TEST(ApiData, ArraysThatFitAreNotCopied) {
  const Small small;
  const Data data = small.data();
  EXPECT_EQ(data.copied_bytes(), 0U);
  const Dataset& rows = Internals::of(data).rows;
  EXPECT_EQ(static_cast<const void*>(rows.features(0).ids.data()), small.ids.data());
  EXPECT_EQ(rows.features(0).values.data(), small.values.data());
  EXPECT_EQ(static_cast<const void*>(rows.labels(0).data()), small.labels.data());
  EXPECT_EQ(data.samples(), 2U);
  EXPECT_EQ(data.features(), 4U);
  EXPECT_EQ(data.labels(), 3U);
  EXPECT_EQ(data.feature_entries(), 4U);
  EXPECT_EQ(data.label_entries(), 3U);
}

TEST(ApiData, DenseRowsAreUsedWhereTheyAre) {
  const Small small;
  std::vector<float> values{3, 0, 4, 0, 0, 0};
  const Data data = Data::from_dense(values.data(), 2, 3, {small.label_offsets, small.labels, nullptr, 5});
  EXPECT_EQ(data.samples(), 2U);
  EXPECT_EQ(data.features(), 3U);
  EXPECT_EQ(data.dense_columns(), 3U);
  EXPECT_EQ(data.labels(), 5U);
  EXPECT_EQ(rows_of(data), (std::vector<std::vector<double>>{{1, -1}, {0, 2, -1}}));
  values[1] = 7;  // shows that it is not a copy
  std::vector<float> row(3);
  Internals::of(data).rows.dense().copy_row(0, row.data());
  EXPECT_EQ(row, (std::vector<float>{3, 7, 4}));
  values[1] = 0;
  DataConfig config;
  scaled_rows(Internals::of(data), config).dense().copy_row(0, row.data());
  EXPECT_NEAR(row[0], 0.6, 1e-6);
  EXPECT_NEAR(row[2], 0.8, 1e-6);
  EXPECT_EQ(Data::from_dense(values.data(), 2, 3).labels(), 0U);
  EXPECT_THROW(Data::from_dense(values.data(), 1, 3, {small.label_offsets, small.labels, nullptr, 5}),
               InputError);
  EXPECT_THROW(Data::from_dense(values.data(), 0, 3), InputError);
  EXPECT_THROW(data.write("rows.xmc"), InputError);
  values[4] = std::numeric_limits<float>::infinity();
  EXPECT_THROW(Data::from_dense(values.data(), 2, 3), InputError);
}

TEST(ApiData, DenseColumnsStandBesideSparseFeatures) {
  const Small small;
  std::vector<float> values{3, 4, 0, 2};
  const auto owner = std::make_shared<int>(0);
  {
    const Data both = small.data().with_dense(values.data(), 2, 2, owner);
    EXPECT_GT(owner.use_count(), 1);
    EXPECT_EQ(both.features(), 6U);
    EXPECT_EQ(both.dense_columns(), 2U);
    EXPECT_EQ(both.feature_entries(), 4U);
    EXPECT_EQ(rows_of(both), rows_of(small.data()));
    const Dataset scaled = scaled_rows(Internals::of(both), DataConfig());
    std::vector<float> row(2);
    scaled.dense().copy_row(0, row.data());
    EXPECT_NEAR(row[0], 0.6, 1e-6);
    EXPECT_NEAR(row[1], 0.8, 1e-6);
    EXPECT_EQ(scaled.sparse_count(), 4U);
    EXPECT_NEAR(scaled.features(0).values[2], 3 / std::sqrt(14.0), 1e-6);
    EXPECT_THROW((void)both.with_dense(values.data(), 2, 2), InputError);
  }
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_THROW((void)small.data().with_dense(values.data(), 1, 2), InputError);
  EXPECT_THROW((void)small.data().with_dense(values.data(), 2, 0), InputError);
  values[1] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THROW((void)small.data().with_dense(values.data(), 2, 2), InputError);
}

TEST(ApiData, TheOwnerIsKeptAsLongAsTheData) {
  const Small small;
  const auto owner = std::make_shared<int>(0);
  {
    const Data data = Data::from_csr({small.offsets, small.ids, small.values.data()}, {}, owner);
    const Data copy = data;  // NOLINT: a copy is the point
    EXPECT_GT(owner.use_count(), 1);
  }
  EXPECT_EQ(owner.use_count(), 1);
}

template <class Offset, class Id>
Data with_types(const Small& small) {
  const std::vector<Offset> offsets(small.offsets.begin(), small.offsets.end()),
      label_offsets(small.label_offsets.begin(), small.label_offsets.end());
  const std::vector<Id> ids(small.ids.begin(), small.ids.end()),
      labels(small.labels.begin(), small.labels.end());
  const auto keep =
      std::make_shared<std::tuple<std::vector<Offset>, std::vector<Offset>, std::vector<Id>, std::vector<Id>,
                                  std::vector<float>>>(offsets, label_offsets, ids, labels, small.values);
  const auto& [o, lo, i, l, v] = *keep;
  return Data::from_csr({o, i, v.data(), 4}, {lo, l, nullptr, 3}, keep);
}

TEST(ApiData, EveryTypeOfIntegersGivesTheSameRows) {
  const Small small;
  const auto wanted = rows_of(small.data());
  const Data narrow = with_types<std::int32_t, std::uint32_t>(small);
  EXPECT_EQ(rows_of(narrow), wanted);
  EXPECT_EQ(narrow.copied_bytes(), 6 * sizeof(std::uint64_t));  // only offsets
  const Data wide = with_types<std::uint64_t, std::int64_t>(small);
  EXPECT_EQ(rows_of(wide), wanted);
  EXPECT_EQ(wide.copied_bytes(), 7 * sizeof(std::uint32_t));  // only ids
  EXPECT_EQ(rows_of(with_types<std::uint32_t, std::uint64_t>(small)), wanted);
}

TEST(ApiData, RowsOutOfOrderAreSortedAndRepeatsSummed) {
  Small mixed;
  mixed.ids = {3, 0, 3, 1};
  mixed.values = {1, 2, 3, 4};
  mixed.labels = {1, 2, 0};
  EXPECT_EQ(rows_of(mixed.data()), (std::vector<std::vector<double>>{{1, -1, 0, 3, 2, 4}, {0, 2, -1, 1, 4}}));
  EXPECT_GT(mixed.data().copied_bytes(), 0U);
  mixed.labels = {1, 2, 2};
  EXPECT_EQ(rows_of(mixed.data()), (std::vector<std::vector<double>>{{1, -1, 0, 3, 2, 4}, {2, -1, 1, 4}}));
}

TEST(ApiData, ValuesAndColumnsMayBeLeftOut) {
  const Small small;
  const Data data = Data::from_csr({small.offsets, small.ids});
  EXPECT_EQ(rows_of(data), (std::vector<std::vector<double>>{{-1, 0, 2, 3, 1, 1, 1}, {-1, 1, 1}}));
  EXPECT_EQ(data.features(), 4U);
  EXPECT_EQ(data.labels(), 0U);
}

TEST(ApiData, NoRowsAreNoSamples) {
  const std::vector<std::int64_t> offsets{0};
  EXPECT_EQ(Data::from_csr({offsets, Integers()}).samples(), 0U);
}

TEST(ApiData, WhatIsWrongIsRefusedByRow) {
  const auto refusal = [](auto change) {
    Small small;
    change(small);
    return small.refusal();
  };
  EXPECT_EQ(refusal([](Small&) {}), "");
  EXPECT_EQ(refusal([](Small& s) { s.ids[3] = 4; }),
            "features: row 1: id 4 is out of range; ids must be below 4 and not negative");
  EXPECT_EQ(refusal([](Small& s) { s.ids[1] = -1; }),
            "features: row 0: id -1 is out of range; ids must be below 4 and not negative");
  EXPECT_EQ(refusal([](Small& s) { s.labels[2] = 3; }),
            "labels: row 1: id 3 is out of range; ids must be below 3 and not negative");
  for (const float value : {std::numeric_limits<float>::infinity(), std::nanf("")}) {
    EXPECT_EQ(refusal([&](Small& s) { s.values[3] = value; }),
              "features: row 1: the value of id 1 is not finite; give a number or leave it out");
  }
  EXPECT_EQ(refusal([](Small& s) {
              s.ids[2] = 2;
              s.values[1] = s.values[2] = 3e38F;
            }),
            "features: row 0: the values of id 2 sum to more than a float holds; scale them");
  EXPECT_EQ(refusal([](Small& s) {
              s.offsets = {0, 5, 4};
            }),
            "features: row 1: its offsets do not ascend; they must count the entries of the rows before");
  EXPECT_EQ(refusal([](Small& s) {
              s.offsets = {0, -1, 4};
            }),
            "features: row 1: its offsets do not ascend; they must count the entries of the rows before");
  EXPECT_EQ(refusal([](Small& s) {
              s.offsets = {1, 3, 4};
            }),
            "features: the offsets go from 1 to 4, but there are 4 ids; they must go from 0 to that number");
  EXPECT_EQ(refusal([](Small& s) {
              s.offsets = {0, 3, 5};
            }),
            "features: the offsets go from 0 to 5, but there are 4 ids; they must go from 0 to that number");
  EXPECT_EQ(refusal([](Small& s) { s.offsets.clear(); }),
            "features: there are no offsets; give rows + 1 of them, the first 0");
  EXPECT_EQ(refusal([](Small& s) {
              s.label_offsets = {0, 3};
            }),
            "2 rows of features, but 1 of labels; they must be of the same samples");
}

TEST(ApiData, ImpossibleMatricesAreRefused) {
  const Small small;
  const CsrMatrix features = {small.offsets, small.ids, small.values.data(), 4};
  EXPECT_THROW(Data::from_csr(features, {small.offsets, small.ids, small.values.data()}), InputError);
  EXPECT_THROW(Data::from_csr({small.offsets, small.ids, nullptr, std::uint64_t{1} << 32}), InputError);
  EXPECT_THROW(Data::from_csr(features, {Integers(), Integers(), nullptr, std::uint64_t{1} << 32}),
               InputError);
  const std::vector<std::int64_t> large{0, 0, 0, 0xffffffff};
  EXPECT_THROW(Data::from_csr({small.offsets, large, small.values.data()}), InputError);
}

// The first of many errors is reported, for any distribution to threads.
TEST(ApiData, TheFirstFaultIsTold) {
  Samples samples = test::tiny_samples(50000);
  for (const std::size_t row : {41000, 12345, 30000}) samples.ids[row * 3] = 12;
  EXPECT_TRUE(contains(input_error([&] { samples.data(); }), "row 12345:"));
}

}  // namespace
}  // namespace slide::api
