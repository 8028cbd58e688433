// Tests of sums over the shards of a network: their values, and independence of the distribution of shards.
#include "engine/network/part_sums.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "engine/base/rng.h"
#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"
#include "tests/network/fake_cluster.h"

namespace slide::test {
namespace {

struct Case {
  std::size_t parts, lanes, columns, blocks = 2;
  int threads = 1;
};

NetworkParts parts_of(std::size_t count, std::size_t rank, std::size_t ranks) {
  NetworkParts parts;
  for (std::size_t p = 1; p <= count; ++p) {
    parts.neuron_ends.push_back(p);
    parts.feature_ends.push_back(p);
  }
  parts.own = parts_of_rank(count, rank, ranks);
  return parts;
}

// A shard's addend for a sample of a batch: numbers of both signs and very different magnitudes.
std::vector<float> addend(const Case& c, std::uint64_t batch, std::size_t block, std::size_t part,
                          std::size_t sample) {
  Rng rng(part + 100 * batch, Purpose::kTest, block, sample);
  std::vector<float> x(c.columns);
  for (float& value : x)
    value = kernels::nearest_bf16(static_cast<float>(rng.normal() * std::exp(2.0 * rng.normal())));
  return x;
}

// The summation tree by definition: the rounded sum of both halves of the shards.
float tree(const std::vector<std::vector<float>>& x, std::size_t column, std::size_t first, std::size_t end) {
  if (end - first == 1) return x[first][column];
  const std::size_t middle = first + (end - first + 1) / 2;
  return kernels::nearest_bf16(tree(x, column, first, middle) + tree(x, column, middle, end));
}

using Bits = std::vector<std::uint32_t>;

// All sums of a batch as the given rank receives them.
Bits sums_of(const Case& c, PartSums& sums, const NetworkParts& parts, std::uint64_t batch) {
  for (std::size_t b = 0; b < c.blocks; ++b) {
    for (std::size_t p = 0; p < parts.own.count; ++p) {
      for (std::size_t s = 0; s < c.lanes; ++s) {
        const std::vector<float> x = addend(c, batch, b, parts.own.first + p, s);
        kernels::active().narrow_nearest(x.data(), c.columns, sums.partial(b, p, s));
      }
    }
  }
  sums.start(c.blocks, c.threads);
  sums.reduce(c.threads);
  sums.finish();
  Bits bits;
  for (std::size_t b = 0; b < c.blocks; ++b) {
    for (std::size_t s = 0; s < c.lanes; ++s) {
      for (std::size_t k = 0; k < c.columns; ++k)
        bits.push_back(std::bit_cast<std::uint32_t>(kernels::pair_value(sums.row(b, s), k)));
    }
  }
  return bits;
}

Bits sums_here(const Case& c, std::uint64_t batch) {
  const NetworkParts parts = parts_of(c.parts, 0, 1);
  PartSums sums(parts, c.blocks, c.lanes, c.columns, nullptr, 0);
  return sums_of(c, sums, parts, batch);
}

void expect_sums(const Case& c, const Bits& got) {
  const double levels = std::ceil(std::log2(double(c.parts)));
  std::size_t at = 0;
  for (std::size_t b = 0; b < c.blocks; ++b) {
    for (std::size_t s = 0; s < c.lanes; ++s) {
      std::vector<std::vector<float>> x;
      for (std::size_t p = 0; p < c.parts; ++p) x.push_back(addend(c, 0, b, p, s));
      for (std::size_t k = 0; k < c.columns; ++k, ++at) {
        double sum = 0.0, size = 0.0;
        for (std::size_t p = 0; p < c.parts; ++p) sum += x[p][k], size += std::fabs(x[p][k]);
        const auto value = std::bit_cast<float>(got.at(at));
        ASSERT_NEAR(value, sum, levels * size / 256) << "sample " << s << ", column " << k;
        ASSERT_EQ(value, tree(x, k, 0, c.parts)) << "sample " << s << ", column " << k;
      }
    }
  }
}

TEST(PartSums, AreTheSumsOfATreeInBfloat16) {
  for (const std::size_t parts : {2, 3, 5, 8}) {
    for (const std::size_t columns : {1, 16, 32, 48, 128, 200}) {
      SCOPED_TRACE(std::to_string(parts) + " parts, " + std::to_string(columns) + " columns");
      const Case c{parts, 16, columns};
      expect_sums(c, sums_here(c, 0));
    }
  }
}

TEST(PartSums, DoNotDependOnTheThreads) {
  Case c{5, 128, 48};
  const Bits one = sums_here(c, 0);
  for (const int threads : {2, 3, 16}) {
    c.threads = threads;
    EXPECT_EQ(sums_here(c, 0), one) << threads << " threads";
  }
}

// Every rank has all sums; the second batch has one block only and reuses memory of the first.
void expect_same_on_ranks(const Case& c, int ranks) {
  SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(c.parts) + " parts, " +
               std::to_string(c.columns) + " columns, " + std::to_string(c.lanes) + " lanes");
  Case less = c;
  less.blocks = 1;
  const Bits first = sums_here(c, 0), second = sums_here(less, 1), third = sums_here(c, 2);
  run_ranks(ranks, [&](FakeCluster& cluster) {
    const NetworkParts parts =
        parts_of(c.parts, static_cast<std::size_t>(cluster.rank()), static_cast<std::size_t>(ranks));
    PartSums sums(parts, c.blocks, c.lanes, c.columns, &cluster, 3);
    EXPECT_TRUE(sums_of(c, sums, parts, 0) == first) << cluster.name();
    EXPECT_TRUE(sums_of(less, sums, parts, 1) == second) << cluster.name() << ", one block";
    EXPECT_TRUE(sums_of(c, sums, parts, 2) == third) << cluster.name() << ", once more";
  });
}

TEST(PartSums, AreTheSameHoweverManyProcessesHoldTheParts) {
  for (const std::size_t parts : {2, 3, 5, 8}) {
    for (const int ranks : {1, 2, 3, 4, 8}) {
      if (static_cast<std::size_t>(ranks) > parts) continue;
      for (const std::size_t columns : {1, 48, 200}) expect_same_on_ranks({parts, 16, columns}, ranks);
    }
  }
}

TEST(PartSums, OfSamplesThatDoNotGoRoundEvenly) {
  for (const std::size_t lanes : {1, 16, 128}) {
    for (const int ranks : {2, 3, 5, 7}) expect_same_on_ranks({7, lanes, 33}, ranks);
  }
}

TEST(PartSums, OfSeveralThreadsInEachProcess) {
  expect_same_on_ranks({5, 128, 128, 3, 3}, 3);
}

}  // namespace
}  // namespace slide::test
