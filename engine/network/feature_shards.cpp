#include "engine/network/feature_shards.h"

#include <array>
#include <cmath>

namespace slide {

namespace {

constexpr std::size_t kSamplesCounted = 4096;  // about as many samples give the estimate
constexpr std::size_t kFeaturesTogether = 16;  // their 32-bit entries fill a cache line
constexpr double kRowCost = 4.0;               // of a touched row, in values added to one

// Expected cost of each group of kFeaturesTogether features in one step. A feature with v expected values in
// a batch costs v + kRowCost * (1 - e^-v): the values, and the row if any sample has it (Poisson).
std::vector<double> expected_costs(const Dataset& train, Slice features, Slice dense, std::size_t batch) {
  std::vector<std::uint32_t> counts(features.count);
  const std::size_t stride = std::max<std::size_t>(1, train.size() / kSamplesCounted);
  std::size_t samples = 0;
  for (std::size_t i = 0; i < train.size(); i += stride, ++samples) {
    for (const std::uint32_t id : train.features(i).ids) {
      if (id >= features.first && id < features.end()) ++counts[id - features.first];
    }
  }
  for (std::size_t id = dense.first; id < dense.end(); ++id) {
    if (id >= features.first && id < features.end())
      counts[id - features.first] = static_cast<std::uint32_t>(samples);  // all have it
  }
  std::vector<double> costs((counts.size() + kFeaturesTogether - 1) / kFeaturesTogether);
  for (std::size_t id = 0; id < counts.size(); ++id) {
    if (counts[id] == 0) continue;
    const double values = double(batch) * counts[id] / double(samples);
    costs[id / kFeaturesTogether] += values + kRowCost * (1.0 - std::exp(-values));
  }
  return costs;
}

// Returns the number of `ids` (ascending) below `end`. Branch-free.
std::uint32_t count_below(std::span<const std::uint32_t> ids, std::uint32_t end) {
  const std::uint32_t* first = ids.data();
  for (std::size_t left = ids.size(); left > 0;) {
    const std::size_t half = (left + 1) / 2;
    first += first[half - 1] < end ? half : 0;
    left -= half;
  }
  return static_cast<std::uint32_t>(first - ids.data());
}

}  // namespace

// A shard ends at the border of groups that is nearest to its even share of the total cost.
FeatureShards::FeatureShards(const Dataset& train, Slice features, Slice dense, std::size_t batch,
                             std::uint32_t shards) {
  const std::vector<double> costs = expected_costs(train, features, dense, batch);
  double total = 0.0, before = 0.0;
  for (const double cost : costs) total += cost;
  std::size_t group = 0;
  for (std::uint32_t s = 1; s < shards; ++s) {
    // Ends where the border is nearest to an even split.
    for (const double border = total * s / shards;
         group < costs.size() && before + 0.5 * costs[group] <= border; ++group)
      before += costs[group];
    ends_.push_back(static_cast<std::uint32_t>(group * kFeaturesTogether));
  }
  ends_.push_back(UINT32_MAX);
}

void ShardedFeatures::reserve(std::uint32_t shards, std::size_t samples, std::size_t entries) {
  const std::size_t slices = slices_of(samples, kSliceSamples);
  shards_ = shards;
  each_ = std::min(samples, kSliceSamples);
  counts_.resize(slices * shards * each_);
  starts_.resize(slices * shards);
  ids_ = AlignedArray<std::uint32_t>(entries);
  values_ = AlignedArray<float>(entries);
}

// Copies shard by shard, and within a shard sample by sample; taken[i] is where the next shard begins in
// sample i.
void ShardedFeatures::fill(std::span<const SparseRow> rows, std::size_t slice, const FeatureShards& shards) {
  const Slice samples = slice_of(slice, rows.size(), kSliceSamples);
  std::uint32_t* count = counts_.data() + slice * shards_ * each_;
  std::array<std::size_t, kSliceSamples> taken{};  // of each sample: what earlier shards have
  std::size_t at = 0;
  for (const SparseRow& row : rows.first(samples.first)) at += row.ids.size();
  for (std::uint32_t shard = 0; shard < shards_; ++shard, count += each_) {
    const std::uint32_t end = shards.end(shard);
    starts_[slice * shards_ + shard] = at;
    for (std::size_t i = 0; i < samples.count; ++i) {
      const SparseRow& row = rows[samples.first + i];
      const auto left = row.ids.subspan(taken[i]);
      count[i] = left.empty() || left.front() >= end ? 0 : count_below(left, end);
      if (count[i] == 0) continue;
      std::copy_n(left.data(), count[i], ids_.data() + at);
      std::copy_n(row.values.data() + taken[i], count[i], values_.data() + at);
      taken[i] += count[i];
      at += count[i];
    }
  }
}

// Within a slice, the entries of a shard are consecutive, sample by sample.
void ShardedFeatures::list(std::uint32_t shard, std::size_t samples, std::size_t first_sample,
                           std::vector<SamplePart>& parts) const {
  for (std::size_t slice = 0; slice < slices_of(samples, kSliceSamples); ++slice) {
    const Slice some = slice_of(slice, samples, kSliceSamples);
    const std::uint32_t* counts = counts_.data() + (slice * shards_ + shard) * each_;
    std::size_t at = starts_[slice * shards_ + shard];
    for (std::size_t i = 0; i < some.count; ++i) {
      if (counts[i] == 0) continue;
      parts.push_back({ids_.data() + at, values_.data() + at, counts[i],
                       static_cast<std::uint32_t>(first_sample + some.first + i)});
      at += counts[i];
    }
  }
}

}  // namespace slide
