// Construction of the linear term: the pattern and initial weights of each neuron.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>

#include "engine/base/id_order.h"
#include "engine/base/parallel.h"
#include "engine/knn/hard_negative_features.h"
#include "engine/statistics/label_sums.h"
#include "engine/wide/linear_term.h"

namespace slide {

struct LinearTerm::PatternTile {
  static constexpr std::size_t kNeurons = 512;   // max neurons
  static constexpr std::size_t kSamples = 4096;  // max samples, unless one neuron has more
  static constexpr std::size_t kAtOnce = 8;      // per thread, before results are stored
  std::size_t first, end;                        // neurons
};

struct LinearTerm::Patterns {
  std::vector<std::uint32_t> features;
  std::vector<float> weights;
};

// Cuts the neurons into tiles of about equal numbers of samples.
template <class SamplesOf>
std::vector<LinearTerm::PatternTile> LinearTerm::tiles_of(std::size_t neurons, SamplesOf&& samples_of) {
  std::vector<PatternTile> tiles;
  std::size_t samples = 0;
  for (std::size_t n = 0; n < neurons; ++n) {
    const std::size_t own = samples_of(n);
    samples += own;
    if (n == 0 || n - tiles.back().first == PatternTile::kNeurons || samples > PatternTile::kSamples) {
      tiles.push_back({n, n});
      samples = own;
    }
    tiles.back().end = n + 1;
  }
  return tiles;
}

// Builds patterns; one object per thread.
class LinearTerm::PatternFinder {
 public:
  // `hard_negatives`: hard-negative features, or nullptr.
  PatternFinder(const LayerConfig& config, double length, const LabelSums& sums,
                const HardNegativeFeatures* hard_negatives)
      : config_(config),
        length_(length),
        sums_(sums),
        hard_negatives_(hard_negatives),
        sum_(sums.make_sum()),
        order_(sum_.values.size()) {
    if (hard_negatives != nullptr) scratch_ = hard_negatives->make_scratch();
  }

  // Appends the pattern of neuron `n`; returns its size.
  std::size_t append(std::size_t n, Patterns& to) {
    sums_.add_up(n, sum_);
    const double factor = sum_.square > 0 ? length_ / std::sqrt(sum_.square) : 0.0;
    ids_ = sum_.ids;
    keep_strongest(ids_, config_.wide_features, sum_.values);
    if (hard_negatives_ != nullptr) hard_negatives_->find(sum_, scratch_, ids_);
    order_.sort(ids_);
    to.features.insert(to.features.end(), ids_.begin(), ids_.end());
    to.weights.resize(to.features.size());
    std::ranges::transform(ids_, to.weights.end() - std::ssize(ids_), [&](std::uint32_t id) {
      return static_cast<float>(factor * sum_.values[id]);  // 0 for hard-negative features
    });
    return ids_.size();
  }

 private:
  const LayerConfig& config_;
  double length_;
  const LabelSums& sums_;
  const HardNegativeFeatures* hard_negatives_;
  LabelSums::Sum sum_;
  HardNegativeFeatures::Scratch scratch_;
  IdOrder order_;
  std::vector<std::uint32_t> ids_;  // of a pattern
};

// Appends the `limit` weights of largest |value| of a row, times `scale`; returns their number.
std::size_t LinearTerm::append_strongest(const SparseRow& row, std::size_t limit, double scale,
                                         Patterns& to) {
  const std::vector<float> values(row.values.begin(), row.values.end());
  std::vector<std::uint32_t> places;
  for (std::uint32_t i = 0; i < values.size(); ++i)
    if (values[i] != 0.0F) places.push_back(i);
  keep_strongest(places, limit, values);
  std::sort(places.begin(), places.end());
  for (const std::uint32_t place : places) {
    to.features.push_back(row.ids[place]);
    to.weights.push_back(static_cast<float>(scale * values[place]));
  }
  return places.size();
}

// From samples: each thread makes its own PatternFinder, at its first neuron.
LinearTerm::LinearTerm(const LayerConfig& config, double length, const Dataset& train, std::size_t neurons,
                       int threads, const FeatureScale& scale)
    : config_(config) {
  const LabelSums sums(train, neurons, scale);
  std::optional<HardNegativeFeatures> hard_negatives;
  if (config_.wide_negatives > 0) hard_negatives.emplace(train, scale, config_.wide_negatives);
  std::vector<std::unique_ptr<PatternFinder>> finders(static_cast<std::size_t>(std::max(1, threads)));
  double label_features = 0;
  for (std::size_t i = 0; i < train.size(); ++i)
    label_features += double(train.labels(i).size()) * double(train.features(i).ids.size());
  const double all = double(neurons) * double(train.feature_count());
  const auto limit =
      static_cast<std::size_t>(std::min(all, max_weights(config_, double(neurons), label_features)));
  const auto samples_of = [&](std::size_t n) { return sums.samples(n).size(); };
  build_patterns(tiles_of(neurons, samples_of), limit, threads, [&](std::size_t n, int thread, Patterns& to) {
    auto& finder = finders[static_cast<std::size_t>(thread)];
    if (!finder)
      finder =
          std::make_unique<PatternFinder>(config_, length, sums, hard_negatives ? &*hard_negatives : nullptr);
    return finder->append(n, to);
  });
}

// From item weights: every row costs about the same, so each neuron counts as one sample in tiles_of().
LinearTerm::LinearTerm(const LayerConfig& config, const ItemWeights& items, std::size_t first,
                       std::size_t count, double scale, int threads)
    : config_(config) {
  std::vector<std::uint32_t> all(items.dense() ? items.items() : 0);
  std::iota(all.begin(), all.end(), 0U);
  const auto row_of = [&](std::size_t n) {
    return items.dense() ? SparseRow{all, items.row(first + n)} : items.list(first + n);
  };
  std::size_t limit = 0;
  for (std::size_t n = 0; n < count; ++n)
    limit += std::min<std::size_t>(row_of(n).ids.size(), config_.wide_features);
  const auto one = [](std::size_t) { return std::size_t{1}; };
  build_patterns(tiles_of(count, one), limit, threads, [&](std::size_t n, int, Patterns& to) {
    return append_strongest(row_of(n), config_.wide_features, scale, to);
  });
}

// Fills storage_ with the patterns of all neurons. append(neuron, thread, patterns) appends the pattern of
// one neuron and returns its size. `limit`: upper bound of the number of weights. Tiles are built in groups,
// whose patterns are copied before the next group.
template <class Append>
void LinearTerm::build_patterns(const std::vector<PatternTile>& tiles, std::size_t limit, int threads,
                                Append&& append) {
  std::vector<std::uint64_t>& offsets = storage_.offsets;
  offsets.assign(tiles.empty() ? 1 : tiles.back().end + 1, 0);
  storage_.features = AlignedArray<std::uint32_t>(limit);
  storage_.weights = AlignedArray<float>(limit);
  const std::size_t at_once = PatternTile::kAtOnce * static_cast<std::size_t>(std::max(1, threads));
  std::vector<Patterns> found(std::min(at_once, tiles.size()));
  for (std::size_t first = 0; first < tiles.size(); first += at_once) {
    const auto group = std::span(tiles).subspan(first, std::min(at_once, tiles.size() - first));
    parallel_for(group.size(), threads, [&](std::size_t c, int thread) {
      found[c].features.clear();
      found[c].weights.clear();
      for (std::size_t n = group[c].first; n < group[c].end; ++n)
        offsets[n + 1] = append(n, thread, found[c]);  // its size, until the sum below
    });
    for (std::size_t n = group.front().first; n < group.back().end; ++n) offsets[n + 1] += offsets[n];
    // Interleaved, to spread the memory over the NUMA nodes of all threads.
    parallel_in_turns(group.size(), threads, [&](std::size_t c) {
      std::ranges::copy(found[c].features, storage_.features.data() + offsets[group[c].first]);
      std::ranges::copy(found[c].weights, storage_.weights.data() + offsets[group[c].first]);
    });
  }
  storage_.features.shrink(offsets.back());
  storage_.weights.shrink(offsets.back());
}

// The patterns of one group of tiles before they are copied, and the working memory of the threads.
double LinearTerm::finding_bytes_of(const LayerConfig& config, double neurons, double label_features,
                                    double features, int threads) {
  const double at_once = PatternTile::kAtOnce * std::max(1, threads) * double(PatternTile::kNeurons);
  const double copied = std::min(neurons, at_once);
  const double copy = std::min(copied * features, max_weights(config, copied, label_features)) *
                      (sizeof(std::uint32_t) + sizeof(float));
  const double sums = threads * LabelSums::sum_bytes_of(features), negatives = config.wide_negatives;
  if (negatives == 0) return copy + sums;
  return copy + sums + HardNegativeFeatures::bytes_of(neurons, features, negatives) +
         threads * HardNegativeFeatures::scratch_bytes_of(features);
}

}  // namespace slide
