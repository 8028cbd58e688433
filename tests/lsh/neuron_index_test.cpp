// The index: what queries promise, recall, rehash against rebuild, threads, allocations.
#include "lsh/neuron_index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>
#include <set>

#include "asker.h"
#include "engine/base/error.h"
#include "lsh_test_util.h"
#include "tests/sanitizers.h"

// ThreadSanitizer of clang brings its own operator new: there nothing is counted.
namespace {
std::atomic<std::size_t> allocations{0};
}

#ifndef SLIDE_UNDER_TSAN
namespace {
void* counted_allocation(std::size_t size, std::size_t alignment) {
  ++allocations;
  void* memory = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

void* operator new(std::size_t size) {
  return counted_allocation(size, 16);
}
void* operator new[](std::size_t size) {
  return counted_allocation(size, 16);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
#endif

namespace slide::lsh::test {
namespace {

constexpr std::size_t kNeurons = 3000, kDim = 64;

struct Settings {
  HashFamily family;
  CandidatePolicy policy;
};

HashConfig config_of(const Settings& s) {
  HashConfig config;
  config.family = s.family;
  config.candidates = s.policy;
  config.k = s.family == HashFamily::kSimhash ? 7 : 3;
  config.range_pow = 9;
  config.tables = 24;
  return config;
}

// The published tables.
HashConfig vanilla() {
  HashConfig config;
  config.k = config.range_pow = 7;
  config.bucket_capacity = 128;
  config.candidates = CandidatePolicy::kVanilla;
  config.asymmetric = false;
  return config;
}

Block near_rows(const Matrix& m, std::size_t samples, double angle) {
  std::vector<std::vector<float>> vectors;
  for (std::size_t b = 0; b < samples; ++b) vectors.push_back(at_angle(m.row(b * 37 % m.rows), angle, b));
  return Block(vectors);
}

class Queries : public testing::TestWithParam<Settings> {
 protected:
  Queries() : m_(Matrix::normal(kNeurons, kDim)), index_(config_of(GetParam()), kNeurons, kDim, 5) {
    index_.rebuild({m_.w.data(), m_.ldw}, 1, 2);
  }
  Matrix m_;
  NeuronIndex index_;
};

TEST_P(Queries, GiveDistinctUnseenIdsAndNoMoreThanWanted) {
  Asker asker(index_, kNeurons);
  for (std::uint32_t id = 0; id < kNeurons; id += 2) asker.know(id);
  std::set<std::uint32_t> all;
  for (const std::size_t wanted : {0UL, 1UL, 7UL, 100UL, 100UL, 5000UL}) {
    const auto& out = asker.ask(near_rows(m_, 32, 0.3), wanted, wanted);
    EXPECT_LE(out.size(), wanted);
    EXPECT_GE(out.size(), std::min<std::size_t>(wanted, 7));
    for (const std::uint32_t id : out) {
      EXPECT_LT(id, kNeurons);
      EXPECT_EQ(id % 2, 1U);
      EXPECT_TRUE(asker.seen.contains(id));
      EXPECT_TRUE(all.insert(id).second) << "id " << id << " twice";
    }
  }
}

TEST_P(Queries, FindTheNearestFarMoreOftenThanAnother) {
  Asker asker(index_, kNeurons);
  double nearest = 0, other = 0;
  constexpr std::uint32_t kTrials = 200;
  for (std::uint32_t trial = 0; trial < kTrials; ++trial) {
    asker.forget();
    const auto row = static_cast<std::uint32_t>(trial * 13 % kNeurons);
    const auto& out = asker.ask(Block({at_angle(m_.row(row), 0.3, trial)}), 200, trial);
    nearest += count(out, row);
    other += count(out, (row + 1000) % kNeurons);
  }
  // Wanting 200 of 3000 a random neuron has one chance in 15 at most.
  EXPECT_GT(nearest / kTrials, 0.5);
  EXPECT_LT(other / kTrials, 0.2);
}

TEST_P(Queries, SparseAndDenseFormsFindTheSame) {
  auto x = m_.row(5);
  sparsify(x, 0.4, 1);
  Asker asker(index_, kNeurons);
  // Every candidate there is, so that the order of tables does not matter.
  auto dense = asker.ask(Block({x}), kNeurons);
  asker.forget();
  auto sparse = asker.ask(Sparse(x), kNeurons);
  std::sort(dense.begin(), dense.end());
  std::sort(sparse.begin(), sparse.end());
  EXPECT_GT(dense.size(), 0U);
  if (GetParam().policy == CandidatePolicy::kSearch && GetParam().family == HashFamily::kSimhash) {
    EXPECT_GT(sparse.size(), 0U);  // of dense vectors, a second bucket of each table counts too
  } else {
    EXPECT_EQ(dense, sparse);
  }
}

TEST_P(Queries, WarmOnesAllocateNothing) {
  Asker asker(index_, kNeurons);
  const Block block = near_rows(m_, 32, 0.3), single = near_rows(m_, 1, 0.3);
  const Sparse sparse(m_.row(7));
  const std::size_t before = allocations;
  for (std::uint64_t round = 0; round < 5; ++round) {
    asker.forget();
    asker.ask(block, 200, round);
    asker.ask(single, 200, round);
    asker.ask(sparse, 200, round);
  }
  EXPECT_EQ(allocations, before);
}

TEST_P(Queries, RepeatWithTheSameSeedWhateverTheThreads) {
  const Block block = near_rows(m_, 20, 0.3);
  std::vector<std::uint32_t> first;
  for (int threads = 1; threads <= 4; ++threads) {
    NeuronIndex index(config_of(GetParam()), kNeurons, kDim, 5);
    Matrix m = Matrix::normal(kNeurons, kDim);
    index.rebuild({m.w.data(), m.ldw}, 1, threads);
    std::vector<std::uint32_t> touched;
    for (std::uint32_t i = 0; i < 500; ++i) touched.push_back(i * 5);
    for (const std::uint32_t id : touched) m.set(id, normal_vector(kDim, 90'000 + id));
    // Nor does the order in which threads collected the touched rows.
    if (threads % 2 == 0) std::reverse(touched.begin(), touched.end());
    index.rehash({m.w.data(), m.ldw}, touched, threads);
    Asker asker(index, kNeurons);
    const auto out = asker.ask(block, 300);
    if (first.empty()) first = out;
    EXPECT_EQ(out, first) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, Queries,
                         testing::Values(Settings{HashFamily::kSimhash, CandidatePolicy::kVanilla},
                                         Settings{HashFamily::kSimhash, CandidatePolicy::kTopk},
                                         Settings{HashFamily::kSimhash, CandidatePolicy::kThreshold},
                                         Settings{HashFamily::kWta, CandidatePolicy::kTopk},
                                         Settings{HashFamily::kDwta, CandidatePolicy::kVanilla},
                                         Settings{HashFamily::kDwta, CandidatePolicy::kThreshold},
                                         Settings{HashFamily::kMinhash, CandidatePolicy::kTopk},
                                         Settings{HashFamily::kSimhash, CandidatePolicy::kSearch},
                                         Settings{HashFamily::kDwta, CandidatePolicy::kSearch}));

// Buckets large enough for all: then a rehash of all rows leaves exactly what a rebuild would.
TEST(NeuronIndexRehash, EqualsARebuild) {
  HashConfig config = vanilla();
  config.bucket_capacity = 4096;
  Matrix m = Matrix::normal(kNeurons, kDim);
  NeuronIndex moved(config, kNeurons, kDim, 5), rebuilt(config, kNeurons, kDim, 5);
  moved.rebuild({m.w.data(), m.ldw}, 1, 2);
  std::vector<std::uint32_t> touched;
  for (std::uint32_t i = 0; i < kNeurons; ++i) touched.push_back(i);
  for (std::uint32_t id = 0; id < kNeurons; id += 3) m.set(id, normal_vector(kDim, 50'000 + id));
  moved.rehash({m.w.data(), m.ldw}, touched, 2);
  rebuilt.rebuild({m.w.data(), m.ldw}, 1, 1);
  Asker a(moved, kNeurons), b(rebuilt, kNeurons);
  for (std::uint32_t row = 0; row < 30; ++row) {
    a.forget();
    b.forget();
    auto left = a.ask(Block({m.row(row)}), kNeurons), right = b.ask(Block({m.row(row)}), kNeurons);
    std::sort(left.begin(), left.end());
    std::sort(right.begin(), right.end());
    ASSERT_EQ(left, right);
  }
  EXPECT_EQ(moved.occupancy().stored, rebuilt.occupancy().stored);
  EXPECT_EQ(moved.occupancy().used_buckets, rebuilt.occupancy().used_buckets);
}

TEST(NeuronIndexRehash, AMovedNeuronIsFoundWhereItWentAndNotWhereItWas) {
  HashConfig config = vanilla();
  config.bucket_capacity = 4096;
  config.candidates = CandidatePolicy::kThreshold;
  config.threshold = config.tables / 2;  // the same place but for what the mean row moves
  Matrix m = Matrix::normal(kNeurons, kDim);
  NeuronIndex index(config, kNeurons, kDim, 5);
  index.rebuild({m.w.data(), m.ldw}, 1, 1);
  const auto old_place = m.row(77);
  m.set(77, normal_vector(kDim, 70'000));
  Asker asker(index, kNeurons);
  EXPECT_EQ(asker.ask(Block({old_place}), 10), std::vector<std::uint32_t>{77});
  const std::uint32_t touched[] = {77};
  index.rehash({m.w.data(), m.ldw}, touched, 1);
  asker.forget();
  EXPECT_TRUE(asker.ask(Block({old_place}), 10).empty());
  EXPECT_EQ(asker.ask(Block({m.row(77)}), 10), std::vector<std::uint32_t>{77});
}

TEST(NeuronIndexRehash, WorksWithoutARebuildBefore) {
  const Matrix m = Matrix::normal(100, kDim);
  NeuronIndex index(vanilla(), 100, kDim, 5);
  Asker asker(index, 100);
  EXPECT_TRUE(asker.ask(Block({m.row(3)}), 10).empty());
  const std::uint32_t touched[] = {9, 3};
  index.rehash({m.w.data(), m.ldw}, touched, 2);
  EXPECT_EQ(asker.ask(Block({m.row(3)}), 1), std::vector<std::uint32_t>{3});
  EXPECT_EQ(index.occupancy().stored, 2 * index.config().tables);
}

// In a shared block no sample goes empty-handed because others came first.
TEST(NeuronIndexPolicies, VanillaServesEverySampleOfABlock) {
  Matrix m = Matrix::normal(kNeurons, kDim);
  NeuronIndex index(vanilla(), kNeurons, kDim, 5);
  index.rebuild({m.w.data(), m.ldw}, 1, 1);
  Asker asker(index, kNeurons);
  double nearest = 0;
  for (std::uint64_t round = 0; round < 50; ++round) {
    asker.forget();
    const auto& out = asker.ask(near_rows(m, 32, 0.2), 640, round);
    EXPECT_EQ(out.size(), 640U);
    for (std::uint32_t b = 0; b < 32; ++b) nearest += count(out, b * 37);
  }
  EXPECT_GT(nearest / (50 * 32), 0.4);  // 640 of 3000 by chance: 0.21
}

TEST(NeuronIndexPolicies, TopkRanksByCountThenById) {
  HashConfig config = vanilla();
  config.candidates = CandidatePolicy::kTopk;
  Matrix m = Matrix::normal(kNeurons, kDim);
  m.set(40, m.row(900));  // twins: in the same buckets everywhere
  NeuronIndex index(config, kNeurons, kDim, 5);
  index.rebuild({m.w.data(), m.ldw}, 1, 1);
  Asker asker(index, kNeurons);
  EXPECT_EQ(asker.ask(Block({m.row(900)}), 2), (std::vector<std::uint32_t>{40, 900}));
  EXPECT_TRUE(
      std::all_of(asker.scratch.counts.begin(), asker.scratch.counts.end(), [](auto c) { return c == 0; }));
}

TEST(NeuronIndexErrors, AreNamed) {
  HashConfig config = vanilla();
  config.range_pow = 6;
  EXPECT_THROW(NeuronIndex(config, 10, 10, 1), InputError);
  EXPECT_THROW(NeuronIndex(HashConfig{}, 0, 10, 1), InputError);
  EXPECT_THROW(NeuronIndex(HashConfig{}, 10, 0, 1), InputError);
  const NeuronIndex index(HashConfig{}, 10, 10, 1);
  Asker asker(index, 10);
  EXPECT_THROW(asker.ask(Block({normal_vector(11, 0)}), 5), Error);
}

}  // namespace
}  // namespace slide::lsh::test
