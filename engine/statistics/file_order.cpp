#include "engine/statistics/file_order.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/base/rng.h"

namespace slide {

namespace {

constexpr std::size_t kFileBlocks = 16;
constexpr std::size_t kMinSamples = 64;
constexpr std::size_t kMaxEntries = 1U << 19;
constexpr std::size_t kPermutations = 399;  // per test
constexpr std::size_t kPermutationsAtOnce = 21;
static_assert(kPermutations % kPermutationsAtOnce == 0);
constexpr std::uint64_t kOfLabels = 0, kOfFeatures = 1;  // numbers of random streams

// Positions, among the samples looked at, of those with each label or feature.
struct Postings {
  std::vector<std::size_t> ends;     // by id, of those that occur more than once: others change no statistic
  std::vector<std::uint32_t> where;  // positions, ids in a row
  std::size_t samples = 0;
};

// Lists the positions of each id that occurs at least twice, in every n-th of the samples, so that at most
// about kMaxEntries ids are read. `ids_of(sample)`: the labels or features of a sample, below `count`.
template <class IdsOf>
Postings postings_of(std::span<const std::uint32_t> samples, std::size_t count, IdsOf ids_of) {
  std::size_t entries = 0;
  for (const std::uint32_t sample : samples) entries += ids_of(sample).size();
  const std::size_t one_in = std::max<std::size_t>(1, (entries + kMaxEntries - 1) / kMaxEntries);
  std::vector<std::uint32_t> counts(count);
  for (std::size_t i = 0; i < samples.size(); i += one_in) {
    for (const std::uint32_t id : ids_of(samples[i])) ++counts[id];
  }
  Postings postings;
  std::vector<std::size_t> next(count);
  std::size_t filled = 0;
  for (std::size_t id = 0; id < count; ++id) {
    next[id] = filled;
    if (counts[id] < 2) continue;
    filled += counts[id];
    postings.ends.push_back(filled);
  }
  postings.where.resize(filled);
  for (std::size_t i = 0; i < samples.size(); i += one_in) {
    for (const std::uint32_t id : ids_of(samples[i])) {
      if (counts[id] >= 2) postings.where[next[id]++] = static_cast<std::uint32_t>(postings.samples);
    }
    ++postings.samples;
  }
  return postings;
}

// The statistic where the sample at position i is in block[i].
double statistic_of(const Postings& postings, std::span<const std::uint8_t> block) {
  double statistic = 0.0;
  std::size_t begin = 0;
  for (const std::size_t end : postings.ends) {
    std::array<std::uint64_t, kFileBlocks> samples{};
    for (std::size_t at = begin; at < end; ++at) ++samples[block[postings.where[at]]];
    std::uint64_t squares = 0;
    for (const std::uint64_t count : samples) squares += count * count;
    statistic += static_cast<double>(squares) / static_cast<double>(end - begin);
    begin = end;
  }
  return statistic;
}

// Whether the statistic of the file is larger than the statistics of all kPermutations random permutations.
// Each permutation has its own random stream; the first one that reaches the file's statistic ends the test.
bool is_ordered(const Postings& postings, std::uint64_t seed, std::uint64_t stream, int threads) {
  if (postings.samples < kMinSamples || postings.ends.empty()) return false;
  std::vector<std::uint8_t> block(postings.samples);
  for (std::size_t i = 0; i < block.size(); ++i)
    block[i] = static_cast<std::uint8_t>(i * kFileBlocks / block.size());
  const double of_file = statistic_of(postings, block);
  std::atomic<bool> reached = false;
  for (std::size_t first = 0; first < kPermutations && !reached; first += kPermutationsAtOnce) {
    parallel_for(kPermutationsAtOnce, threads, [&](std::size_t p, int) {
      Rng rng(seed, Purpose::kPermutation, stream, first + p);
      std::vector<std::uint8_t> permuted = block;
      for (std::size_t i = permuted.size() - 1; i > 0; --i)
        std::swap(permuted[i], permuted[rng.below(static_cast<std::uint32_t>(i + 1))]);
      if (statistic_of(postings, permuted) >= of_file) reached = true;
    });
  }
  return !reached;
}

}  // namespace

FileOrder order_of_file(const Dataset& data, std::uint64_t seed, int threads) {
  std::vector<std::uint32_t> labelled;
  for (std::size_t i = 0; i < data.samples(); ++i) {
    if (!data.labels(i).empty()) labelled.push_back(static_cast<std::uint32_t>(i));
  }
  const auto labels_of = [&](std::uint32_t sample) { return data.labels(sample); };
  const auto features_of = [&](std::uint32_t sample) { return data.features(sample).ids; };
  FileOrder order;
  order.labels = is_ordered(postings_of(labelled, data.label_count(), labels_of), seed, kOfLabels, threads);
  order.features =
      is_ordered(postings_of(labelled, data.sparse_count(), features_of), seed, kOfFeatures, threads);
  return order;
}

}  // namespace slide
