// Tests of the fixed index of inference: the search for the largest inner products, against sorting all of
// them.
#include "lsh/neuron_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "engine/base/error.h"
#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"
#include "tests/lsh/lsh_test_util.h"

namespace slide::lsh {
namespace {

using test::Block;
using test::Matrix;
using test::normal_vector;

std::vector<float> biases_of(std::size_t rows) {
  std::vector<float> biases = normal_vector(rows, 77);
  for (float& b : biases) b *= 0.1F;
  return biases;
}

NeuronIndex index_of(const WeightRows& rows, std::size_t count, std::size_t dim, int threads) {
  return NeuronIndex::fixed(rows, count, dim, 5, threads);
}

NeuronIndex index_of(const Matrix& m, const std::vector<float>& biases, int threads = 1) {
  return index_of({m.w.data(), m.ldw, nullptr, {}, biases.data()}, m.rows, m.columns, threads);
}

std::vector<std::uint32_t> longest_of(const NeuronIndex& index) {
  std::vector<std::uint32_t> ids(index.longest().begin(), index.longest().end());
  std::sort(ids.begin(), ids.end());
  return ids;
}

// Answers for every sample of the block.
std::vector<std::vector<std::uint32_t>> ask(const NeuronIndex& index, const Block& block,
                                            std::size_t wanted) {
  QueryScratch scratch = index.make_scratch(block.lanes);
  index.project(block.query(), scratch);
  std::vector<std::vector<std::uint32_t>> answers(block.samples);
  for (std::size_t s = 0; s < block.samples; ++s) {
    index.find(s, block.lanes, wanted, scratch, answers[s]);
    for (const std::uint16_t count : scratch.bucket_counts) EXPECT_LE(count, scratch.zero);
  }
  return answers;
}

double score(const Matrix& m, const std::vector<float>& biases, std::size_t i, const std::vector<float>& x) {
  double sum = biases[i];
  for (std::size_t d = 0; d < m.columns; ++d) sum += double(m.w[i * m.ldw + d]) * x[d];
  return sum;
}

// Queries similar to one row each, as in a trained model.
std::vector<std::vector<float>> queries_near(const Matrix& m, std::size_t count) {
  std::vector<std::vector<float>> queries;
  for (std::size_t q = 0; q < count; ++q) {
    std::vector<float> x = m.row(q * 7919 % m.rows);
    const std::vector<float> noise = normal_vector(m.columns, 500'000 + q);
    for (std::size_t d = 0; d < x.size(); ++d) x[d] += noise[d];
    queries.push_back(x);
  }
  return queries;
}

TEST(FixedIndex, FindsTheLargestInnerProduct) {
  const Matrix m = Matrix::normal(10000, 64);
  const std::vector<float> biases = biases_of(m.rows);
  const NeuronIndex index = index_of(m, biases);
  const auto queries = queries_near(m, 64);
  const auto answers = ask(index, Block(queries), 200);
  std::size_t hits = 0;
  for (std::size_t q = 0; q < queries.size(); ++q) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < m.rows; ++i) {
      if (score(m, biases, i, queries[q]) > score(m, biases, best, queries[q])) best = i;
    }
    const auto longest = longest_of(index);
    const bool always = std::binary_search(longest.begin(), longest.end(), best);
    hits += always || std::count(answers[q].begin(), answers[q].end(), best) > 0 ? 1 : 0;
  }
  EXPECT_GE(hits, 58u);  // 63 when this was written
}

TEST(FixedIndex, LongestAreThePartFurthestFromTheMean) {
  Matrix m = Matrix::normal(7200, 20);
  std::vector<float> biases(m.rows, 3.0F);
  std::vector<std::uint32_t> expected;
  for (std::uint32_t i = 5; expected.size() < 900; i += 8) expected.push_back(i);
  for (std::size_t i = 0; i < m.rows; ++i) {
    for (std::size_t d = 0; d < m.columns; ++d) {
      float& w = m.w[i * m.ldw + d];
      w = 100.0F + w * (i % 8 == 5 ? 20.0F : 1.0F);
    }
  }
  const NeuronIndex index = index_of(m, biases);
  EXPECT_EQ(longest_of(index), expected);
}

TEST(FixedIndex, ALargeBiasMakesANeuronLong) {
  const Matrix m = Matrix::normal(5000, 20);
  std::vector<float> biases(m.rows, 0.0F);
  biases[4321] = 30.0F;
  const NeuronIndex index = index_of(m, biases);
  EXPECT_EQ(std::ranges::count(index.longest(), 4321U), 1);
}

TEST(FixedIndex, AnswersAreDistinctAndNotLongestAndNoMoreThanWanted) {
  for (const std::size_t rows : {1, 2, 31, 33, 1000, 1025, 4095, 4096, 6001}) {
    const Matrix m = Matrix::normal(rows, 17);
    const NeuronIndex index = index_of(m, biases_of(rows));
    EXPECT_EQ(index.longest().size(), rows < 4096 ? 0 : rows / 8);
    for (const std::size_t wanted : {0, 1, 10, 100000}) {
      for (const auto& ids : ask(index, Block(queries_near(m, 33)), wanted)) {
        EXPECT_LE(ids.size(), wanted);
        std::set<std::uint32_t> seen(index.longest().begin(), index.longest().end());
        for (const std::uint32_t id : ids) {
          ASSERT_LT(id, rows);
          ASSERT_TRUE(seen.insert(id).second);
        }
      }
    }
  }
}

// A smaller answer is the part of a larger one that was found in most tables.
TEST(FixedIndex, WantingMoreKeepsWhatWasFound) {
  const Matrix m = Matrix::normal(6000, 24);
  const NeuronIndex index = index_of(m, biases_of(m.rows));
  const Block block(queries_near(m, 20));
  auto few = ask(index, block, 15), many = ask(index, block, 150);
  for (std::size_t s = 0; s < few.size(); ++s) {
    std::sort(few[s].begin(), few[s].end());
    std::sort(many[s].begin(), many[s].end());
    EXPECT_TRUE(std::includes(many[s].begin(), many[s].end(), few[s].begin(), few[s].end()));
  }
}

// Counts are distinguished from those of earlier queries by an offset, until its range is exhausted.
TEST(FixedIndex, EarlierQueriesLeaveNothingBehind) {
  const Matrix m = Matrix::normal(4000, 16);
  const NeuronIndex index = index_of(m, biases_of(m.rows));
  const Block block(queries_near(m, 16));
  constexpr std::size_t kWanted = 4000;  // so that some are found in one table
  const auto expected = ask(index, block, kWanted);
  QueryScratch scratch = index.make_scratch(block.lanes);
  index.project(block.query(), scratch);
  std::vector<std::uint32_t> answer;
  bool largest = false;
  std::uint16_t before = 0;
  for (std::size_t i = 0; i < 2200; ++i) {
    index.find(i % 16, block.lanes, kWanted, scratch, answer);
    ASSERT_EQ(answer, expected[i % 16]) << i;
    largest |= scratch.zero < before;
    before = scratch.zero;
  }
  EXPECT_TRUE(largest);
}

TEST(FixedIndex, AnswersGrowBeyondTheIdsOfOneTable) {
  const Matrix m = Matrix::normal(20000, 32);
  const NeuronIndex index = index_of(m, biases_of(m.rows));
  Block far({normal_vector(32, 11), normal_vector(32, 12)});
  const auto of_few = ask(index, far, 32), of_many = ask(index, far, 4000);
  for (std::size_t s = 0; s < of_many.size(); ++s) {
    EXPECT_EQ(of_few[s].size(), 32u);
    EXPECT_GT(of_many[s].size(), 32u);
  }
}

TEST(FixedIndex, SameForAllThreadCountsAndBlockShapes) {
  const Matrix m = Matrix::normal(9000, 40);
  const std::vector<float> biases = biases_of(m.rows);
  const auto queries = queries_near(m, 40);
  const NeuronIndex one = index_of(m, biases, 1), three = index_of(m, biases, 3);
  EXPECT_EQ(longest_of(one), longest_of(three));
  const auto expected = ask(one, Block(queries), 50);
  EXPECT_EQ(ask(three, Block(queries), 50), expected);
  const auto part = ask(one, Block({queries.begin() + 8, queries.begin() + 24}), 50);
  EXPECT_EQ(part, (std::vector(expected.begin() + 8, expected.begin() + 24)));
}

TEST(FixedIndex, Bf16RowsAreFiledByTheirValues) {
  const Matrix m = Matrix::normal(5000, 18);
  const std::vector<float> biases = biases_of(m.rows);
  const std::size_t words = round_up(m.columns, kernels::kPairGroup) / 2;
  std::vector<std::uint32_t> pairs(m.rows * words);
  Matrix widened(m.rows, m.columns);
  for (std::size_t i = 0; i < m.rows; ++i) {
    kernels::active().narrow(m.w.data() + i * m.ldw, m.columns, 3, pairs.data() + i * words);
    kernels::active().widen(pairs.data() + i * words, m.columns, widened.w.data() + i * m.ldw);
  }
  const NeuronIndex bf16 = index_of({nullptr, words, pairs.data(), {}, biases.data()}, m.rows, m.columns, 2);
  const NeuronIndex wide = index_of(widened, biases);
  EXPECT_EQ(longest_of(bf16), longest_of(wide));
  const Block block(queries_near(m, 20));
  EXPECT_EQ(ask(bf16, block, 50), ask(wide, block, 50));
}

TEST(FixedIndex, ZerosAndNonsenseAreHarmless) {
  Matrix m = Matrix::normal(5000, 16);
  for (std::size_t d = 0; d < m.columns; ++d) m.w[7 * m.ldw + d] = std::numeric_limits<float>::quiet_NaN();
  const NeuronIndex index = index_of(m, biases_of(m.rows));
  const float infinity = std::numeric_limits<float>::infinity();
  const auto answers =
      ask(index,
          Block({std::vector<float>(16, 0.0F), std::vector<float>(16, infinity),
                 std::vector<float>(16, std::numeric_limits<float>::quiet_NaN()), normal_vector(16, 3)}),
          64);
  for (const auto& ids : answers) EXPECT_LE(ids.size(), 64u);
  const Matrix same(5000, 16);
  const Block zero({std::vector<float>(16, 0.0F)});
  for (const auto& ids : ask(index_of(same, std::vector<float>(5000, 1.0F)), zero, 64)) {
    EXPECT_GT(ids.size(), 0u);  // rows of zeros are in random buckets
  }
}

TEST(FixedIndex, WrongWidthAndNoRowsAreErrors) {
  const Matrix m = Matrix::normal(100, 16);
  const NeuronIndex index = index_of(m, biases_of(100));
  QueryScratch scratch = index.make_scratch(1);
  const std::vector<float> narrow(15);
  EXPECT_THROW(index.project({narrow.data(), 15, 1, 1}, scratch), Error);
  EXPECT_THROW(NeuronIndex::fixed({m.w.data(), m.ldw}, 0, 16, 5, 1), InputError);
}

}  // namespace
}  // namespace slide::lsh
