#include "engine/wide_path.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/parallel.h"

namespace slide {

void BlockFeatures::reserve(std::size_t features, std::size_t entries) {
  present_.assign(features / 32 + 1, 0);
  position_.assign(features, 0);
  features_.reserve(entries);
  offsets_.reserve(entries + 2);
  entries_.reserve(entries);
}

void BlockFeatures::build(std::span<const SparseRow> rows) {
  for (const std::uint32_t f : features_) present_[f / 32] = 0;
  features_.clear();
  offsets_.assign(1, 0);
  std::size_t total = 0;
  for (const SparseRow& row : rows) {
    for (const std::uint32_t f : row.ids) {
      const std::uint32_t bit = 1u << (f % 32);
      if ((present_[f / 32] & bit) == 0) {
        present_[f / 32] |= bit;
        position_[f] = static_cast<std::uint32_t>(features_.size());
        features_.push_back(f);
        offsets_.push_back(0);
      }
      ++offsets_[position_[f] + 1];
    }
    total += row.ids.size();
  }
  std::uint32_t start = 0;
  for (std::size_t c = 1; c < offsets_.size(); ++c) start += std::exchange(offsets_[c], start);
  entries_.resize(total);
  for (std::size_t s = 0; s < rows.size(); ++s) {
    for (std::size_t i = 0; i < rows[s].ids.size(); ++i) {
      entries_[offsets_[position_[rows[s].ids[i]] + 1]++] = {static_cast<std::uint32_t>(s),
                                                             rows[s].values[i]};
    }
  }
}

namespace {

// Samples of each label: offsets [labels + 1] and sample ids.
struct SamplesByLabel {
  std::vector<std::size_t> offsets;
  std::vector<std::uint32_t> samples;
};

SamplesByLabel group_by_label(const Dataset& data, std::size_t labels) {
  SamplesByLabel groups;
  groups.offsets.assign(labels + 1, 0);
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (const std::uint32_t label : data.labels(i)) ++groups.offsets[label + 1];
  }
  std::partial_sum(groups.offsets.begin(), groups.offsets.end(), groups.offsets.begin());
  groups.samples.resize(groups.offsets.back());
  std::vector<std::size_t> next(groups.offsets.begin(), groups.offsets.end() - 1);
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (const std::uint32_t label : data.labels(i))
      groups.samples[next[label]++] = static_cast<std::uint32_t>(i);
  }
  return groups;
}

// One thread's dense sum of samples, with the list of what is not zero.
struct Accumulator {
  std::vector<float> sum;
  std::vector<std::uint32_t> ids;

  void add(const SparseRow& row) {
    for (std::size_t i = 0; i < row.ids.size(); ++i) {
      if (sum[row.ids[i]] == 0.0f) ids.push_back(row.ids[i]);
      sum[row.ids[i]] += row.values[i];
    }
  }
  void clear() {
    for (const std::uint32_t id : ids) sum[id] = 0.0f;
    ids.clear();
  }
};

}  // namespace

WidePath::WidePath(const LayerConfig& config, const Dataset& train, std::size_t neurons, int threads)
    : config_(config) {
  const SamplesByLabel groups = group_by_label(train, neurons);
  constexpr std::size_t kChunk = 512;
  const std::size_t chunks = (neurons + kChunk - 1) / kChunk;
  std::vector<Accumulator> work(std::max(1, threads));
  for (Accumulator& a : work) a.sum.assign(train.feature_count(), 0.0f);
  std::vector<std::vector<std::uint32_t>> features(chunks);
  std::vector<std::vector<float>> weights(chunks);
  offsets_.assign(neurons + 1, 0);
  parallel_for(chunks, threads, [&](std::size_t chunk, int thread) {
    Accumulator& a = work[thread];
    for (std::size_t n = chunk * kChunk; n < std::min(neurons, (chunk + 1) * kChunk); ++n) {
      for (std::size_t i = groups.offsets[n]; i < groups.offsets[n + 1]; ++i)
        a.add(train.features(groups.samples[i]));
      double square = 0.0;
      for (const std::uint32_t id : a.ids) square += double(a.sum[id]) * a.sum[id];
      const double factor = square > 0 ? config_.wide_scale / std::sqrt(square) : 0.0;
      // The strongest features of the sum, ties by id.
      const auto stronger = [&](std::uint32_t x, std::uint32_t y) {
        const float fx = std::fabs(a.sum[x]), fy = std::fabs(a.sum[y]);
        return fx > fy || (fx == fy && x < y);
      };
      const std::size_t kept = std::min<std::size_t>(a.ids.size(), config_.wide_features);
      std::vector<std::uint32_t> ids = a.ids;
      std::nth_element(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(kept), ids.end(), stronger);
      ids.resize(kept);
      std::sort(ids.begin(), ids.end());
      for (const std::uint32_t id : ids) {
        features[chunk].push_back(id);
        weights[chunk].push_back(static_cast<float>(factor * a.sum[id]));
      }
      offsets_[n + 1] = kept;
      a.clear();
    }
  });
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  features_.reserve(offsets_.back());
  weights_.reserve(offsets_.back());
  for (std::size_t c = 0; c < chunks; ++c) {
    features_.insert(features_.end(), features[c].begin(), features[c].end());
    weights_.insert(weights_.end(), weights[c].begin(), weights[c].end());
  }
  accumulators_.assign(weights_.size(), 0.0f);
}

void WidePath::forward(const BlockFeatures& features, std::span<const std::uint32_t> ids, std::size_t lanes,
                       float* z, WideHits& hits, bool record) const {
  hits.hits.clear();
  hits.offsets.assign(1, 0);
  const std::uint32_t* present = features.present();
  for (std::size_t a = 0; a < ids.size(); ++a) {
    const std::uint64_t begin = offsets_[ids[a]], count = offsets_[ids[a] + 1] - begin;
    const std::uint32_t* pattern = features_.data() + begin;
    if (hits.found.size() < count + 1) hits.found.resize(count + 1);
    std::size_t met = 0;
    for (std::size_t i = 0; i < count; ++i) {
      hits.found[met] = static_cast<std::uint32_t>(i);
      met += present[pattern[i] / 32] >> (pattern[i] % 32) & 1u;
    }
    float* row = z + a * lanes;
    for (std::size_t h = 0; h < met; ++h) {
      const std::uint64_t weight = begin + hits.found[h];
      const std::uint32_t column = features.column(features_[weight]);
      for (const auto& [sample, value] : features.entries(column)) row[sample] += weights_[weight] * value;
      if (record) hits.hits.push_back({weight, column});
    }
    if (record) hits.offsets.push_back(hits.hits.size());
  }
}

void WidePath::update(const BlockFeatures& features, const WideHits& hits, std::size_t a, const float* d,
                      float rate) {
  const float step = rate * static_cast<float>(config_.wide_rate);
  for (std::size_t h = hits.offsets[a]; h < hits.offsets[a + 1]; ++h) {
    const auto [weight, column] = hits.hits[h];
    float g = 0.0f;
    for (const auto& [sample, value] : features.entries(column)) g += d[sample] * value;
    if (g == 0.0f) continue;
    accumulators_[weight] += g * g;
    weights_[weight] -= step * g / std::sqrt(accumulators_[weight]);
  }
}

std::size_t WidePath::bytes() const {
  return offsets_.size() * sizeof(std::uint64_t) + features_.size() * sizeof(std::uint32_t) +
         (weights_.size() + accumulators_.size()) * sizeof(float);
}

}  // namespace slide
