// Tables over rows as training leaves them: how evenly they are filled, and what the search policy finds.
#include "lsh/table_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "asker.h"
#include "lsh/neuron_index.h"
#include "lsh_test_util.h"

namespace slide::lsh::test {
namespace {

constexpr std::size_t kDim = 64;

// Rows as after training: a common offset, different norms.
Matrix trained_rows(std::size_t rows, double common, std::vector<float>& bias) {
  Matrix m(rows, kDim);
  const auto direction = normal_vector(kDim, 1'000'000);
  for (std::size_t i = 0; i < rows; ++i) {
    auto row = normal_vector(kDim, i);
    Rng rng(3, Purpose::kTest, 7, i);
    const auto size = static_cast<float>(std::exp(0.5 * rng.normal()));
    for (std::size_t d = 0; d < kDim; ++d) row[d] = size * row[d] + static_cast<float>(common) * direction[d];
    m.set(i, row);
    bias.push_back(static_cast<float>(-3 + rng.normal()));
  }
  return m;
}

double largest_share(const NeuronIndex& index, std::size_t neurons) {
  return double(index.occupancy().largest_bucket) / double(neurons);
}

constexpr std::size_t kManyRows = 20'000;

TEST(HealthyTables, RowsWithMuchInCommonSpread) {
  std::vector<float> bias;
  const Matrix m = trained_rows(kManyRows, 4.0, bias);
  const WeightRows rows{m.w.data(), m.ldw, nullptr, {}, bias.data()};
  // Not wta: its windows of one table may share a feature, whose rows then share a bucket.
  for (const HashFamily family : {HashFamily::kSimhash, HashFamily::kDwta}) {
    HashConfig config;
    config.family = family;
    NeuronIndex index(config, kManyRows, kDim, 5);
    index.rebuild(rows, 1, 2);
    EXPECT_LT(largest_share(index, kManyRows), 0.02) << static_cast<int>(family);
    EXPECT_GT(double(index.occupancy().stored), 0.9 * double(kManyRows * index.config().tables));
  }
}

TEST(HealthyTables, RowsThatAreAllZeroSpreadAndFollowOnceTheyMove) {
  Matrix m(kManyRows, kDim);
  const WeightRows rows{m.w.data(), m.ldw};
  NeuronIndex index(HashConfig{}, kManyRows, kDim, 5);
  index.rebuild(rows, 1, 1);
  EXPECT_TRUE(index.all_zero());
  EXPECT_LT(largest_share(index, kManyRows), 0.02);
  std::vector<std::uint32_t> touched;
  for (std::uint32_t i = 0; i < kManyRows; i += 2) {
    m.set(i, normal_vector(kDim, i));
    touched.push_back(i);
  }
  index.rehash(rows, touched, 2);
  EXPECT_FALSE(index.all_zero());
  EXPECT_LT(largest_share(index, kManyRows), 0.02);
  Asker asker(index, kManyRows);
  double found = 0;
  for (std::uint32_t i = 0; i < 100; ++i) {
    asker.forget();
    found += count(asker.ask(Block({m.row(i * 20)}), 50), i * 20);
  }
  EXPECT_GT(found, 80);
}

// The share that queries of 264 neurons find of the ten with the largest w.x + bias.
double recall_of(const NeuronIndex& index, const Matrix& m, const WeightRows& rows, bool scored) {
  Asker asker(index, kManyRows);
  double hits = 0;
  constexpr std::uint32_t kQueries = 100;
  for (std::uint32_t q = 0; q < kQueries; ++q) {
    const auto x = normal_vector(kDim, 2'000'000 + q);
    std::vector<std::pair<float, std::uint32_t>> all;
    for (std::uint32_t i = 0; i < kManyRows; ++i) {
      float z = rows.bias[i];
      for (std::size_t d = 0; d < kDim; ++d) z += m.w[i * m.ldw + d] * x[d];
      all.emplace_back(-z, i);
    }
    std::partial_sort(all.begin(), all.begin() + 10, all.end());
    asker.forget();
    asker.out.clear();
    const Block block({x});
    QueryBlock query = block.query();
    if (scored) query.rows = rows;
    Rng rng(1, Purpose::kTest, q);
    index.query(query, 264, rng, asker.scratch, asker.seen, asker.out);
    for (std::size_t i = 0; i < 10; ++i) hits += count(asker.out, all[i].second);
  }
  return hits / (10 * kQueries);
}

TEST(SearchPolicy, FindsMostOfTheNeuronsThatFireMost) {
  std::vector<float> bias;
  const Matrix m = trained_rows(kManyRows, 1.0, bias);
  const WeightRows rows{m.w.data(), m.ldw, nullptr, {}, bias.data()};
  NeuronIndex index(HashConfig{}, kManyRows, kDim, 5);
  index.rebuild(rows, 1, 1);
  EXPECT_GT(recall_of(index, m, rows, true), 0.85);
}

TEST(SearchPolicy, FindGivesEachSampleItsOwnWithoutTheLongest) {
  const Matrix m = Matrix::normal(kManyRows, kDim);
  NeuronIndex index(HashConfig{}, kManyRows, kDim, 5);
  index.rebuild({m.w.data(), m.ldw}, 1, 1);
  ASSERT_EQ(index.longest().size(), 512U);
  const std::set<std::uint32_t> longest(index.longest().begin(), index.longest().end());
  std::vector<std::vector<float>> queries;
  for (std::uint32_t b = 0; b < 20; ++b) queries.push_back(m.row(b * 700));
  const Block block(queries);
  QueryScratch scratch = index.make_scratch(block.lanes);
  index.project(block.query(), scratch);
  std::vector<std::uint32_t> out;
  double itself = 0;
  for (std::uint32_t b = 0; b < 20; ++b) {
    index.find(b, block.lanes, 100, scratch, out);
    EXPECT_LE(out.size(), 100U);
    EXPECT_EQ(std::set<std::uint32_t>(out.begin(), out.end()).size(), out.size());
    for (const std::uint32_t id : out) EXPECT_FALSE(longest.contains(id));
    itself += longest.contains(b * 700) ? 1 : count(out, b * 700);
  }
  EXPECT_GT(itself, 14);
  std::size_t found = 0;  // of the rows that the caller does not score
  for (std::uint32_t b = 0; b < 20; ++b) {
    index.find(b, block.lanes, kManyRows, scratch, out, 100);
    for (const std::uint32_t id : index.longest().first(100)) EXPECT_EQ(count(out, id), 0);
    for (const std::uint32_t id : index.longest().subspan(100))
      found += static_cast<std::size_t>(count(out, id));
  }
  EXPECT_GT(found, 0U);
}

TEST(SearchPolicy, GoesOnAsSaved) {
  std::vector<float> bias;
  Matrix m = trained_rows(kManyRows, 1.0, bias);
  const WeightRows rows{m.w.data(), m.ldw, nullptr, {}, bias.data()};
  NeuronIndex index(HashConfig{}, kManyRows, kDim, 5), loaded(HashConfig{}, kManyRows, kDim, 5);
  index.rebuild(rows, 1, 1);
  ByteString saved;
  index.save(saved);
  ByteReader in(saved.bytes(), "saved", "again");
  loaded.load(in);
  std::vector<std::uint32_t> touched;
  for (std::uint32_t i = 0; i < 3000; ++i) touched.push_back(i * 3);
  for (const std::uint32_t id : touched) m.set(id, normal_vector(kDim, 90'000 + id));
  index.rehash(rows, touched, 1);
  loaded.rehash(rows, touched, 3);
  ByteString first, second;
  index.save(first);
  loaded.save(second);
  EXPECT_TRUE(std::ranges::equal(first.bytes(), second.bytes()));
}

}  // namespace
}  // namespace slide::lsh::test
