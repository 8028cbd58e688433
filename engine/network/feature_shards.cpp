#include "engine/network/feature_shards.h"

#include <algorithm>
#include <cmath>

namespace slide {

namespace {

constexpr std::size_t kSamplesCounted = 4096;
constexpr double kRowCost = 4.0;  // of a touched row, in values added to one

// Expected cost of each group of `together` features in one step.
std::vector<double> expected_costs(const Dataset& train, std::size_t batch, std::size_t together) {
  std::vector<std::uint32_t> counts(train.feature_count());
  const std::size_t stride = std::max<std::size_t>(1, train.size() / kSamplesCounted);
  std::size_t samples = 0;
  for (std::size_t i = 0; i < train.size(); i += stride, ++samples) {
    for (const std::uint32_t id : train.features(i).ids) ++counts[id];
  }
  std::vector<double> costs((counts.size() + together - 1) / together);
  for (std::size_t id = 0; id < counts.size(); ++id) {
    if (counts[id] == 0) continue;
    const double values = double(batch) * counts[id] / double(samples);
    costs[id / together] += values + kRowCost * (1.0 - std::exp(-values));
  }
  return costs;
}

}  // namespace

FeatureShards::FeatureShards(const Dataset& train, std::size_t batch, std::uint32_t shards) {
  const std::vector<double> costs = expected_costs(train, batch, kTogether);
  double total = 0.0, before = 0.0;
  for (const double cost : costs) total += cost;
  std::size_t group = 0;
  for (std::uint32_t s = 1; s < shards; ++s) {
    // Ends where the border is nearest to an even split.
    for (const double border = total * s / shards;
         group < costs.size() && before + 0.5 * costs[group] <= border; ++group)
      before += costs[group];
    ends_.push_back(static_cast<std::uint32_t>(group * kTogether));
  }
  ends_.push_back(UINT32_MAX);
  owners_.reserve(costs.size());
  for (std::uint32_t shard = 0; owners_.size() < costs.size();) {
    if (owners_.size() * kTogether < ends_[shard]) {
      owners_.push_back(static_cast<std::uint16_t>(shard));
    } else {
      ++shard;
    }
  }
}

void ShardedFeatures::reserve(std::uint32_t shards, std::size_t samples, std::size_t entries) {
  counts_.resize(samples * shards);
  starts_.resize(shards);
  filled_.resize(shards);
  ids_ = AlignedArray<std::uint32_t>(entries);
  values_ = AlignedArray<float>(entries);
}

void ShardedFeatures::fill(std::span<const SparseRow> rows, const FeatureShards& shards) {
  samples_ = rows.size();
  std::fill_n(counts_.begin(), samples_ * shards.size(), 0u);
  for (std::size_t s = 0; s < samples_; ++s) {
    for (const std::uint32_t id : rows[s].ids) ++counts_[shards.owner(id) * samples_ + s];
  }
  std::size_t at = 0;
  for (std::uint32_t shard = 0; shard < shards.size(); ++shard) {
    starts_[shard] = filled_[shard] = at;
    for (std::size_t s = 0; s < samples_; ++s) at += counts_[shard * samples_ + s];
  }
  for (const SparseRow& row : rows) {
    for (std::size_t i = 0; i < row.ids.size(); ++i) {
      const std::size_t to = filled_[shards.owner(row.ids[i])]++;
      ids_[to] = row.ids[i];
      values_[to] = row.values[i];
    }
  }
}

void ShardedFeatures::list(std::uint32_t shard, std::size_t first_sample,
                           std::vector<SamplePart>& parts) const {
  std::size_t at = starts_[shard];
  for (std::size_t s = 0; s < samples_; ++s) {
    const std::uint32_t count = counts_[shard * samples_ + s];
    if (count == 0) continue;
    parts.push_back(
        {ids_.data() + at, values_.data() + at, count, static_cast<std::uint32_t>(first_sample + s)});
    at += count;
  }
}

}  // namespace slide
