#include "engine/wide_path.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"

namespace slide {

void BlockFeatures::reserve(std::size_t features, std::size_t entries, std::size_t lanes) {
  const std::size_t most = std::min(features, entries);
  present_.assign(features / 32 + 1, 0);
  first_.assign(features / 32 + 1, 0);
  words_.reserve(std::min(most, present_.size()));
  columns_ = AlignedArray<float>(most * lanes);
}

void BlockFeatures::build(std::span<const SparseRow> rows, std::size_t lanes) {
  for (const std::uint32_t word : words_) present_[word] = 0;
  words_.clear();
  for (const SparseRow& row : rows) {
    for (const std::uint32_t f : row.ids) {
      if (present_[f / 32] == 0) words_.push_back(f / 32);
      present_[f / 32] |= 1u << (f % 32);
    }
  }
  size_ = 0;
  for (const std::uint32_t word : words_) {
    first_[word] = static_cast<std::uint32_t>(size_);
    size_ += static_cast<std::size_t>(std::popcount(present_[word]));
  }
  std::fill_n(columns_.data(), size_ * lanes, 0.0f);
  for (std::size_t s = 0; s < rows.size(); ++s) {
    for (std::size_t i = 0; i < rows[s].ids.size(); ++i) {
      const std::uint32_t f = rows[s].ids[i], word = f / 32;
      const std::uint32_t below = present_[word] & ((1u << (f % 32)) - 1);
      columns_[(first_[word] + static_cast<std::size_t>(std::popcount(below))) * lanes + s] = rows[s].values[i];
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
  std::vector<float> scaled;  // values of one sample

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

WidePath::WidePath(const LayerConfig& config, const Dataset& train, std::size_t neurons, int threads,
                   const FeatureScale& scale)
    : config_(config) {
  const SamplesByLabel groups = group_by_label(train, neurons);
  constexpr std::size_t kChunk = 512;
  const std::size_t chunks = (neurons + kChunk - 1) / kChunk;
  std::vector<Accumulator> work(std::max(1, threads));
  for (Accumulator& a : work) a.sum.assign(train.feature_count(), 0.0f);
  std::vector<std::vector<std::uint32_t>> features(chunks);
  std::vector<std::vector<float>> weights(chunks);
  storage_.offsets.assign(neurons + 1, 0);
  parallel_for(chunks, threads, [&](std::size_t chunk, int thread) {
    Accumulator& a = work[thread];
    for (std::size_t n = chunk * kChunk; n < std::min(neurons, (chunk + 1) * kChunk); ++n) {
      for (std::size_t i = groups.offsets[n]; i < groups.offsets[n + 1]; ++i) {
        a.scaled.clear();
        a.add(scale.scaled(train.features(groups.samples[i]), a.scaled));
      }
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
      storage_.offsets[n + 1] = kept;
      a.clear();
    }
  });
  std::partial_sum(storage_.offsets.begin(), storage_.offsets.end(), storage_.offsets.begin());
  storage_.features.reserve(storage_.offsets.back());
  storage_.weights.reserve(storage_.offsets.back());
  for (std::size_t c = 0; c < chunks; ++c) {
    storage_.features.insert(storage_.features.end(), features[c].begin(), features[c].end());
    storage_.weights.insert(storage_.weights.end(), weights[c].begin(), weights[c].end());
  }
  storage_.accumulators.assign(storage_.weights.size(), 0.0f);
}

void WidePath::prefetch(std::uint32_t id, bool update) const {
  constexpr std::uint64_t kLine = kAlignment / sizeof(float);
  constexpr std::uint64_t kMost = 16 * kLine;  // the processor runs on by itself
  const std::uint64_t begin = storage_.offsets[id], end = std::min(storage_.offsets[id + 1], begin + kMost);
  for (std::uint64_t i = begin; i < end; i += kLine) {
    __builtin_prefetch(storage_.weights.data() + i);
    if (update) {
      __builtin_prefetch(storage_.accumulators.data() + i, 1);
    } else {
      __builtin_prefetch(storage_.features.data() + i);
    }
  }
}

void WidePath::forward(const BlockFeatures& features, std::span<const std::uint32_t> ids, std::size_t lanes,
                       float* z, WideHits& hits) const {
  constexpr std::size_t kAhead = 4;  // neurons
  const auto& k = kernels::active();
  hits.neurons.resize(ids.size() + 1);
  std::size_t met = 0, masks = 0;
  for (std::size_t a = 0; a < ids.size(); ++a) {
    if (a + kAhead < ids.size()) prefetch(ids[a + kAhead], false);
    const std::uint64_t begin = storage_.offsets[ids[a]], count = storage_.offsets[ids[a] + 1] - begin;
    const std::size_t room = count + kernels::kLaneMultiple;
    if (hits.masks.size() < masks + room) hits.masks.resize(2 * (masks + room));
    if (hits.columns.size() < met + room) hits.columns.resize(2 * (met + room));
    if (hits.values.size() < room) hits.values.resize(room);
    hits.neurons[a] = {masks, met};
    const std::uint32_t* columns = hits.columns.data() + met;
    const std::size_t found =
        k.meet(storage_.features.data() + begin, storage_.weights.data() + begin, count, features.present(),
               features.first(), hits.masks.data() + masks, hits.columns.data() + met, hits.values.data());
    k.gather_rows(features.columns(), lanes, columns, hits.values.data(), found, lanes, z + a * lanes);
    met += found;
    masks += (count + 15) / 16;
  }
  hits.neurons[ids.size()] = {masks, met};
}

void WidePath::update(const BlockFeatures& features, const WideHits& hits, std::uint32_t id, std::size_t a,
                      std::size_t lanes, const float* d, Step step, std::vector<float>& gradients) {
  const std::size_t first = hits.neurons[a].hits, count = hits.neurons[a + 1].hits - first;
  if (count == 0) return;
  if (gradients.size() < count) gradients.resize(count);
  kernels::active().rows_forward(features.columns(), lanes, hits.columns.data() + first, count, nullptr, d,
                                 lanes, 1, gradients.data());
  const std::uint64_t begin = storage_.offsets[id];
  kernels::active().adagrad_masked(storage_.weights.data() + begin, storage_.accumulators.data() + begin,
                                   hits.masks.data() + hits.neurons[a].masks,
                                   storage_.offsets[id + 1] - begin, gradients.data(), step.samples,
                                   step.rate * static_cast<float>(config_.wide_rate));
}

void WidePath::save(StateWriter& out) const {
  const Storage& s = storage_;
  out.put_array(s.offsets.data(), s.offsets.size());
  out.put_array(s.features.data(), s.features.size());
  out.put_array(s.weights.data(), s.weights.size());
  out.put_array(s.accumulators.data(), s.accumulators.size());
}

void WidePath::load(StateReader& in) {
  Storage& s = storage_;
  in.get_array(s.offsets.data(), s.offsets.size(), "another wide path");
  in.get_array(s.features.data(), s.features.size(), "another wide path");
  in.get_array(s.weights.data(), s.weights.size(), "another wide path");
  in.get_array(s.accumulators.data(), s.accumulators.size(), "another wide path");
}

std::size_t WidePath::bytes() const {
  return storage_.offsets.size() * sizeof(std::uint64_t) + storage_.features.size() * sizeof(std::uint32_t) +
         (storage_.weights.size() + storage_.accumulators.size()) * sizeof(float);
}

WidePostings::WidePostings(const WidePath& wide, std::size_t neurons, std::size_t features)
    : neuron_count_(neurons), offsets_(features + 1, 0) {
  const WidePath::Storage& from = wide.storage();
  for (const std::uint32_t f : from.features) ++offsets_[f + 1];
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  neurons_ = AlignedArray<std::uint32_t>(offsets_.back());
  weights_ = AlignedArray<float>(offsets_.back());
  std::vector<std::uint64_t> next(offsets_.begin(), offsets_.end() - 1);
  for (std::size_t n = 0; n < neurons; ++n) {
    for (std::uint64_t i = from.offsets[n]; i < from.offsets[n + 1]; ++i) {
      const std::uint64_t at = next[from.features[i]]++;
      neurons_[at] = static_cast<std::uint32_t>(n);
      weights_[at] = from.weights[i];
    }
  }
}

void WidePostings::start(const BlockFeatures& features, Walk& walk) const {
  walk.features.clear();
  for (const std::uint32_t word : features.words()) {
    for (std::uint32_t bits = features.present()[word]; bits != 0; bits &= bits - 1) {
      const std::size_t f = std::size_t{word} * 32 + static_cast<std::size_t>(std::countr_zero(bits));
      walk.features.push_back({offsets_[f], offsets_[f + 1]});
    }
  }
}

void WidePostings::add(const BlockFeatures& features, std::size_t first, std::size_t end, std::size_t lanes,
                       float* z, Walk& walk) const {
  constexpr std::size_t kAhead = 8;      // features
  constexpr std::size_t kNeurons = 256;  // at a time: their scores of 32 samples stay in the first-level cache
  const auto& k = kernels::active();
  float* neuron_0 = z - first * lanes;
  for (std::size_t bound = first; bound < end;) {
    bound = std::min(end, bound + kNeurons);
    for (std::size_t column = 0; column < walk.features.size(); ++column) {
      if (column + kAhead < walk.features.size()) {
        const std::uint64_t soon = walk.features[column + kAhead].at;
        __builtin_prefetch(neurons_.data() + soon);
        __builtin_prefetch(weights_.data() + soon);
      }
      auto& [at, last] = walk.features[column];
      if (at == last || neurons_[at] >= bound) continue;
      at += k.scatter_rows(neurons_.data() + at, weights_.data() + at, last - at,
                           static_cast<std::uint32_t>(bound), features.columns() + column * lanes, lanes,
                           neuron_0, lanes);
    }
  }
}

void WidePostings::add(const SparseRow& row, float* z) const {
  for (std::size_t i = 0; i < row.ids.size(); ++i) {
    for (std::uint64_t p = offsets_[row.ids[i]]; p < offsets_[row.ids[i] + 1]; ++p)
      z[neurons_[p]] += weights_[p] * row.values[i];
  }
}

WidePostings::Scratch WidePostings::make_scratch() const {
  Scratch scratch;
  scratch.scores.assign(neuron_count_, 0.0f);
  scratch.touched.reserve(neuron_count_);
  return scratch;
}

void WidePostings::find(const SparseRow& row, std::size_t wanted, Scratch& scratch,
                        std::vector<std::uint32_t>& out) const {
  scratch.touched.clear();
  for (std::size_t i = 0; i < row.ids.size(); ++i) {
    const std::uint64_t begin = offsets_[row.ids[i]], end = offsets_[row.ids[i] + 1];
    if (end - begin > kMostPostings) continue;
    for (std::uint64_t p = begin; p < end; ++p) {
      const std::uint32_t neuron = neurons_[p];
      if (scratch.scores[neuron] == 0.0f) scratch.touched.push_back(neuron);
      scratch.scores[neuron] += weights_[p] * row.values[i];
    }
  }
  // A score may pass through zero and be listed twice; once is enough.
  std::sort(scratch.touched.begin(), scratch.touched.end());
  scratch.touched.erase(std::unique(scratch.touched.begin(), scratch.touched.end()), scratch.touched.end());
  const auto better = [&](std::uint32_t a, std::uint32_t b) {
    return scratch.scores[a] > scratch.scores[b] || (scratch.scores[a] == scratch.scores[b] && a < b);
  };
  auto& found = scratch.touched;
  const std::size_t kept = std::min(wanted, found.size());
  const std::vector<std::uint32_t>::difference_type end = static_cast<std::ptrdiff_t>(kept);
  std::nth_element(found.begin(), found.begin() + end, found.end(), better);
  out.insert(out.end(), found.begin(), found.begin() + end);
  for (const std::uint32_t neuron : found) scratch.scores[neuron] = 0.0f;
}

std::size_t WidePostings::bytes() const {
  return offsets_.size() * sizeof(std::uint64_t) + neurons_.size() * (sizeof(std::uint32_t) + sizeof(float));
}

}  // namespace slide
