// The hash functions: one fingerprint whatever the form of the vector, and collisions as theory says.
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <set>

#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"
#include "lsh/feature_bins.h"
#include "lsh/hash_families.h"
#include "lsh/simhash.h"
#include "lsh_test_util.h"
#include "tests/expect.h"

namespace slide::lsh::test {
namespace {

struct Case {
  HashFamily family;
  std::uint32_t k, bin_size, range_pow;
  std::size_t dim;
  double keep;  // share of values that are not zero
};

HashConfig config_of(const Case& c, std::uint32_t tables) {
  HashConfig config;
  config.family = c.family;
  config.k = c.k;
  config.tables = tables;
  config.bin_size = c.bin_size;
  config.range_pow = c.range_pow;
  return config;
}

class Forms : public testing::TestWithParam<Case> {};

// Columns of a block, a single column, sparse vectors and weight rows have equal fingerprints, in any subset
// of tables.
TEST_P(Forms, AllFormsOfAVectorHaveTheSameCodes) {
  const Case& c = GetParam();
  const auto functions = make_hash_functions(config_of(c, 11), c.dim, 7);
  std::vector<std::vector<float>> vectors;
  for (std::size_t b = 0; b < 37; ++b) {
    vectors.push_back(normal_vector(c.dim, b));
    sparsify(vectors.back(), c.keep, b);
  }
  vectors.back().assign(c.dim, 0.0F);
  const Block block(vectors);
  const auto prints = hash(*functions, block);
  Matrix m(vectors.size(), c.dim);
  for (std::size_t b = 0; b < vectors.size(); ++b) m.set(b, vectors[b]);
  HashScratch scratch;
  std::vector<std::uint32_t> rows(11 * 37);
  functions->hash_rows({{m.w.data(), m.ldw}, nullptr, 0, 37}, scratch, rows.data(), 37);
  for (std::size_t b = 0; b < vectors.size(); ++b) {
    const auto single = hash(*functions, vectors[b]);
    const auto sparse = hash(*functions, Sparse(vectors[b]));
    for (std::size_t t = 0; t < 11; ++t) {
      ASSERT_EQ(single[t], prints[t * block.lanes + b]) << "lane " << b << " table " << t;
      ASSERT_EQ(sparse[t], single[t]) << "sparse, lane " << b << " table " << t;
      // A row of zeros tells nothing, and goes where its id says.
      if (std::ranges::any_of(vectors[b], [](float value) { return value != 0; })) {
        ASSERT_EQ(rows[t * 37 + b], single[t]) << "row " << b << " table " << t;
      }
    }
  }
}

TEST_P(Forms, Bf16RowsAreHashedByTheirValues) {
  const Case& c = GetParam();
  const auto functions = make_hash_functions(config_of(c, 5), c.dim, 7);
  const Matrix m = Matrix::normal(40, c.dim);
  const std::size_t words = round_up(c.dim, kernels::kPairGroup) / 2;
  std::vector<std::uint32_t> pairs(40 * words, 0), bf16(5 * 40), wide(5 * 40);
  std::vector<float> widened(40 * c.dim);
  for (std::size_t i = 0; i < 40; ++i) {
    kernels::active().narrow(m.w.data() + i * m.ldw, c.dim, 3, pairs.data() + i * words);
    kernels::active().widen(pairs.data() + i * words, c.dim, widened.data() + i * c.dim);
  }
  HashScratch scratch;
  functions->hash_rows({{nullptr, words, pairs.data()}, nullptr, 0, 40}, scratch, bf16.data(), 40);
  functions->hash_rows({{widened.data(), c.dim}, nullptr, 0, 40}, scratch, wide.data(), 40);
  EXPECT_EQ(bf16, wide);
}

TEST_P(Forms, ChosenTablesAndGatheredRowsAgreeWithAll) {
  const Case& c = GetParam();
  const auto functions = make_hash_functions(config_of(c, 11), c.dim, 7);
  const Matrix m = Matrix::normal(70, c.dim);
  HashScratch scratch;
  std::vector<std::uint32_t> all(11 * 70), some(11 * 40);
  functions->hash_rows({{m.w.data(), m.ldw}, nullptr, 0, 70}, scratch, all.data(), 70);
  std::vector<std::uint32_t> ids;
  for (std::uint32_t i = 0; i < 40; ++i) ids.push_back(i * 17 % 70);
  functions->hash_rows({{m.w.data(), m.ldw}, ids.data(), 0, 40}, scratch, some.data(), 40);
  const std::vector<std::uint32_t> tables = {9, 2, 5};
  std::uint32_t chosen[3];
  const std::vector<float> x = m.row(ids[3]);
  functions->hash_block({x.data(), c.dim, 1, 1}, tables, scratch, chosen);
  for (std::size_t t = 0; t < 11; ++t) {
    for (std::size_t i = 0; i < 40; ++i) ASSERT_EQ(some[t * 40 + i], all[t * 70 + ids[i]]);
  }
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(chosen[i], all[tables[i] * 70 + ids[3]]);
}

TEST_P(Forms, FingerprintsFitTheirBitsAndFollowTheSeed) {
  const Case& c = GetParam();
  const HashConfig config = config_of(c, 11);
  const auto x = normal_vector(c.dim, 5);
  const auto first = make_hash_functions(config, c.dim, 7);
  const auto again = make_hash_functions(config, c.dim, 7);
  const auto prints = hash(*first, x);
  for (const std::uint32_t print : prints) EXPECT_LT(print, 1U << (config.k * code_bits(config)));
  EXPECT_EQ(prints, hash(*again, x));
  again->draw(1);
  if (c.dim > 4) {
    EXPECT_NE(prints, hash(*again, x));
  }
  again->draw(0);
  EXPECT_EQ(prints, hash(*again, x));
}

INSTANTIATE_TEST_SUITE_P(
    Families, Forms,
    testing::Values(
        Case{HashFamily::kSimhash, 7, 8, 9, 128, 1.0}, Case{HashFamily::kSimhash, 3, 8, 9, 1, 1.0},
        Case{HashFamily::kSimhash, 9, 8, 9, 20000, 0.01}, Case{HashFamily::kSimhash, 5, 8, 9, 67, 0.2},
        Case{HashFamily::kWta, 3, 8, 9, 128, 1.0}, Case{HashFamily::kWta, 3, 6, 9, 5, 1.0},
        Case{HashFamily::kWta, 2, 16, 9, 9000, 0.3}, Case{HashFamily::kDwta, 3, 8, 9, 128, 1.0},
        Case{HashFamily::kDwta, 3, 8, 9, 128, 0.1}, Case{HashFamily::kDwta, 3, 5, 9, 3, 0.7},
        Case{HashFamily::kDwta, 4, 4, 9, 12345, 0.005}, Case{HashFamily::kMinhash, 3, 8, 9, 128, 1.0},
        Case{HashFamily::kMinhash, 3, 8, 9, 128, 0.05}, Case{HashFamily::kMinhash, 4, 4, 9, 9001, 0.01},
        Case{HashFamily::kMinhash, 2, 7, 9, 4, 1.0}));

// P(two vectors share a code) = 1 - angle/pi (Charikar 2002), so a fingerprint collides with its K-th power.
TEST(SimhashStatistics, CollisionRateFollowsTheAngle) {
  constexpr std::uint32_t kTables = 4000;
  constexpr std::size_t kDim = 256, kPairs = 8;
  for (const std::uint32_t k : {1U, 4U, 7U}) {
    const auto functions =
        make_hash_functions(config_of({HashFamily::kSimhash, k, 8, 9, kDim, 1.0}, kTables), kDim, 3);
    for (const double angle : {0.1, 0.4, 0.8, 1.2, 2.0}) {
      double rate = 0;
      for (std::size_t pair = 0; pair < kPairs; ++pair) {
        const auto x = normal_vector(kDim, pair);
        rate += agreement(*functions, x, at_angle(x, angle, pair)) / kPairs;
      }
      const double expected = std::pow(1 - angle / std::numbers::pi, k);
      // Four binomial standard errors, and 0.01 for projections that are sparse, not normal.
      const double error = std::sqrt(expected * (1 - expected) / (kTables * kPairs));
      EXPECT_NEAR(rate, expected, 4 * error + 0.01) << "k " << k << " angle " << angle;
    }
  }
}

TEST(SimhashStatistics, SignsHaveTheirProbabilitiesAndNoProjectionIsBlind) {
  constexpr std::size_t kDim = 300;
  const Simhash wide(config_of({HashFamily::kSimhash, 5, 8, 9, kDim, 1.0}, 200), kDim, 3);
  HashConfig config = config_of({HashFamily::kSimhash, 5, 8, 9, 2, 1.0}, 200);
  Simhash narrow(config, 2, 3), drawn(config_of({HashFamily::kSimhash, 5, 8, 9, kDim, 1.0}, 200), kDim, 3);
  drawn.draw(0);
  narrow.draw(0);
  std::size_t plus = 0, minus = 0;
  for (std::size_t p = 0; p < 1000; ++p) {
    for (std::size_t k = 0; k < kDim; ++k) plus += drawn.sign(p, k) == 1, minus += drawn.sign(p, k) == -1;
    EXPECT_TRUE(narrow.sign(p, 0) != 0 || narrow.sign(p, 1) != 0);
  }
  EXPECT_NEAR(double(plus) / (1000 * kDim), 1.0 / 6, 0.004);
  EXPECT_NEAR(double(minus) / (1000 * kDim), 1.0 / 6, 0.004);
}

// Maximum inner product transform: rows at one angle to the query, of norms 0.2 and 1, collide at different
// rates, each that of the angle between the transformed vectors. Of opposite rows the mean is 0.
TEST(SimhashStatistics, AsymmetricTransformOrdersByInnerProduct) {
  constexpr std::uint32_t kTables = 8000;
  constexpr std::size_t kDim = 128;
  HashConfig config = config_of({HashFamily::kSimhash, 1, 8, 9, kDim, 1.0}, kTables);
  config.asymmetric = true;
  const auto functions = make_hash_functions(config, kDim, 3);
  const auto query = normal_vector(kDim, 0);
  constexpr std::size_t kRows = 40;
  Matrix m(kRows, kDim);
  const double scales[] = {1.0, 0.2, 3.0};  // the last outgrows the length seen by fit()
  for (std::size_t i = 0; i < 3; ++i) {
    auto row = at_angle(query, 0.6, i);
    for (float& value : row) value *= static_cast<float>(scales[i]);
    m.set(i, row);
  }
  Matrix seen(kRows, kDim);
  for (std::size_t i = 0; i < kRows; i += 2) {
    auto row = at_angle(query, 0.6, i);
    seen.set(i, row);
    for (float& value : row) value = -value;
    seen.set(i + 1, row);
  }
  functions->fit({seen.w.data(), seen.ldw}, kRows, 2);
  HashScratch scratch;
  std::vector<std::uint32_t> rows(kTables * 3);
  functions->hash_rows({{m.w.data(), m.ldw}, nullptr, 0, 3}, scratch, rows.data(), 3);
  const auto asked = hash(*functions, query);
  for (std::size_t i = 0; i < 3; ++i) {
    double same = 0;
    for (std::size_t t = 0; t < kTables; ++t) same += rows[t * 3 + i] == asked[t] ? 1 : 0;
    const double angle = std::acos(std::min(1.0, scales[i]) * std::cos(0.6));
    EXPECT_NEAR(same / kTables, 1 - angle / std::numbers::pi, 0.03) << "scale " << scales[i];
  }
}

class Similarity : public testing::TestWithParam<Case> {};

TEST_P(Similarity, AgreementGrowsWithSimilarity) {
  const Case& c = GetParam();
  const auto functions = make_hash_functions(config_of(c, 400), c.dim, 3);
  double last = 1.0;
  for (const double angle : {0.0, 0.2, 0.5, 0.9, 1.5}) {
    double rate = 0;
    for (std::size_t pair = 0; pair < 20; ++pair) {
      auto x = normal_vector(c.dim, pair);
      auto y = at_angle(x, angle, pair);
      sparsify(x, c.keep, pair);
      sparsify(y, c.keep, pair);
      rate += agreement(*functions, x, y) / 20;
    }
    if (angle == 0.0) {
      EXPECT_GT(rate, 0.99);
    } else {
      EXPECT_LT(rate, last - 0.01) << angle;
    }
    last = rate;
  }
  EXPECT_LT(last, c.keep < 1 ? 0.95 : 0.3);  // lone values of a bin win there, whatever they are
}

INSTANTIATE_TEST_SUITE_P(Families, Similarity,
                         testing::Values(Case{HashFamily::kSimhash, 3, 8, 9, 200, 1.0},
                                         Case{HashFamily::kWta, 1, 8, 9, 200, 1.0},
                                         Case{HashFamily::kDwta, 1, 8, 9, 200, 1.0},
                                         Case{HashFamily::kDwta, 1, 8, 9, 20000, 0.01},
                                         Case{HashFamily::kMinhash, 1, 8, 9, 2000, 1.0}));

// Codes of three bits packed in two left most buckets out of reach once.
TEST(Packing, EveryBucketIsReachable) {
  for (const HashFamily family : {HashFamily::kWta, HashFamily::kDwta, HashFamily::kMinhash}) {
    const auto functions = make_hash_functions(config_of({family, 3, 8, 9, 600, 1.0}, 1), 600, 3);
    std::set<std::uint32_t> reached;
    for (std::uint64_t item = 0; item < 12'000 && reached.size() < 512; ++item) {
      reached.insert(hash(*functions, normal_vector(600, item))[0]);
    }
    EXPECT_EQ(reached.size(), 512U) << static_cast<int>(family);
  }
}

TEST(Packing, BitsOfACode) {
  HashConfig config;
  EXPECT_EQ(code_bits(config), 1U);
  config.family = HashFamily::kDwta;
  for (const auto& [size, bits] : {std::pair{2U, 1U}, {3U, 2U}, {4U, 2U}, {5U, 3U}, {8U, 3U}, {9U, 4U}}) {
    config.bin_size = size;
    EXPECT_EQ(code_bits(config), bits) << size;
  }
}

TEST(FeatureBins, EachBinHoldsDistinctFeaturesAndIsFoundFromThem) {
  for (const auto& [bins, dim] :
       {std::pair<std::size_t, std::size_t>{40, 10}, {40, 128}, {40, 5000}, {7, 3}}) {
    FeatureBins parts(bins, 8, dim);
    parts.draw(Rng(1, Purpose::kTest));
    std::size_t visits = 0;
    for (std::uint32_t feature = 0; feature < dim; ++feature) {
      parts.for_each_bin(feature, [&](std::size_t bin, std::uint32_t position) {
        EXPECT_EQ(parts.features(bin)[position], feature);
        ++visits;
      });
    }
    EXPECT_EQ(visits, bins * parts.width());
    EXPECT_LT(parts.code(static_cast<std::uint32_t>(parts.width() - 1)), 8U);
    for (std::size_t bin = 0; bin < bins; ++bin) {
      const auto features = parts.features(bin);
      EXPECT_EQ(std::set<std::uint32_t>(features.begin(), features.end()).size(), parts.width());
      EXPECT_LT(parts.donor(bin, 0), bins);
    }
  }
}

TEST(HashConfigCheck, NamesWhatIsWrong) {
  const auto message = [](auto change) {
    HashConfig config;
    change(config);
    return input_error([&] { check_hash_config(config); });
  };
  EXPECT_EQ(message([](HashConfig&) {}), "");
  EXPECT_EQ(message([](HashConfig& c) { c.family = HashFamily::kDwta; }), "");
  EXPECT_TRUE(contains(message([](HashConfig& c) { c.k = 10, c.range_pow = 7; }), "range_pow"));
  EXPECT_TRUE(contains(message([](HashConfig& c) { c.family = HashFamily::kDwta, c.k = c.range_pow = 7; }),
                       "hash.k"));
  EXPECT_TRUE(contains(message([](HashConfig& c) { c.k = 25; }), "hash.k"));
  EXPECT_TRUE(contains(message([](HashConfig& c) { c.queries = 0; }), "hash.queries"));
  EXPECT_TRUE(contains(message([](HashConfig& c) { c.queries = 17; }), "hash.queries"));
  EXPECT_TRUE(contains(message([](HashConfig& c) { c.tables = 0; }), "hash.tables"));
  EXPECT_TRUE(contains(message([](HashConfig& c) { c.bucket_capacity = 40000; }), "bucket_capacity"));
  EXPECT_TRUE(contains(message([](HashConfig& c) { c.range_pow = 40; }), "range_pow"));
  EXPECT_TRUE(contains(message([](HashConfig& c) { c.k = c.range_pow = UINT32_MAX; }), "range_pow"));
  EXPECT_TRUE(
      contains(message([](HashConfig& c) { c.family = HashFamily::kWta, c.bin_size = 1; }), "bin_size"));
  EXPECT_TRUE(contains(message([](HashConfig& c) { c.topk_ratio = 0; }), "topk_ratio"));
  EXPECT_TRUE(
      contains(message([](HashConfig& c) { c.candidates = CandidatePolicy::kThreshold, c.threshold = 99; }),
               "threshold"));
}

TEST(HashConfigSizes, FollowFromTheNumberOfNeurons) {
  for (const HashFamily family : {HashFamily::kSimhash, HashFamily::kDwta}) {
    for (std::size_t neurons = 20'000; neurons < 5'000'000; neurons *= 3) {
      HashConfig config;
      config.family = family;
      const HashConfig sized = sized_for(config, neurons);
      EXPECT_EQ(sized.k * code_bits(sized), sized.range_pow);
      const double even = double(neurons) / double(std::size_t{1} << sized.range_pow);
      EXPECT_GE(even, 10) << neurons;
      EXPECT_LE(even, family == HashFamily::kSimhash ? 40 : 160) << neurons;
      EXPECT_GE(sized.bucket_capacity, 2 * even);
    }
  }
  HashConfig fixed;
  fixed.k = 5;
  fixed.range_pow = 8;
  fixed.bucket_capacity = 3;
  const HashConfig kept = sized_for(fixed, 100'000);
  EXPECT_EQ(kept.k, 5U);
  EXPECT_EQ(kept.range_pow, 8U);
  EXPECT_EQ(kept.bucket_capacity, 3U);
  HashConfig narrow;
  narrow.range_pow = 6;
  EXPECT_EQ(sized_for(narrow, 100'000).k, 6U);
}

}  // namespace
}  // namespace slide::lsh::test
