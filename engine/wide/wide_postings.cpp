#include "engine/wide/wide_postings.h"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "engine/base/parallel.h"
#include "engine/base/prefetch.h"
#include "engine/kernels/kernels.h"
#include "engine/wide/weights_by_feature.h"

namespace slide {

namespace {
constexpr std::size_t kCached = 8192;  // scores to which dense columns are added per tile
constexpr std::size_t kAhead = 8;      // features
}  // namespace

// Transposes the weights in their stored form: float, bfloat16 or int8.
WidePostings::WidePostings(const LinearTerm& wide, std::span<const std::uint32_t> ids, std::size_t features,
                           int threads) {
  const LinearTerm::Storage& from = wide.storage();
  const WeightsByFeature by_feature(from, ids, features, threads);
  offsets_ = by_feature.offsets();
  neurons_ = AlignedArray<std::uint32_t>(offsets_.back());
  const bool bytes = from.small.in_bytes(), floats = from.small.empty();
  weights_ = AlignedArray<float>(floats ? offsets_.back() : 0);
  small_.halves.resize(floats || bytes ? 0 : offsets_.back());
  small_.q.resize(bytes ? offsets_.back() : 0);
  small_.exponents.resize(bytes ? ids.size() : 0);
  for (std::size_t n = 0; bytes && n < ids.size(); ++n) small_.exponents[n] = from.small.exponents[ids[n]];
  parallel_for(by_feature.tiles(), threads, [&](std::size_t tile, int) {
    by_feature.visit(tile, [&](std::uint64_t place, std::size_t n, std::uint64_t i) {
      neurons_[place] = static_cast<std::uint32_t>(n);
      if (floats)
        weights_[place] = from.weights[i];
      else if (bytes)
        small_.q[place] = from.small.q[i];
      else
        small_.halves[place] = from.small.halves[i];
    });
  });
}

void WidePostings::Walk::sort() {
  // Memory order of the postings.
  const auto before = [](const Feature& a, const Feature& b) { return a.at < b.at; };
  std::sort(dense.begin(), dense.end(), before);
  std::sort(listed.begin(), listed.end(), before);
}

// Lists the block's features with their postings: in walk.dense those whose values are a dense column, in
// walk.listed those with a list of entries.
void WidePostings::start(const BlockFeatures& features, std::size_t limit, Walk& walk) const {
  walk.dense.clear();
  walk.listed.clear();
  std::size_t number = 0;
  for (const std::uint32_t word : features.words()) {
    for (std::uint32_t bits = features.present()[word]; bits != 0; bits &= bits - 1) {
      const std::size_t f = std::size_t{word} * 32 + static_cast<std::size_t>(std::countr_zero(bits));
      const std::uint32_t place = features.places()[number++], length = features.length_of(place);
      if (count(f) > limit) continue;
      auto& same_form = length == 0 ? walk.dense : walk.listed;
      same_form.push_back({offsets_[f], offsets_[f + 1], place / kernels::kKinds, length});
    }
  }
}

namespace {

// Consecutive postings of a feature: ascending neurons, and the index of the first.
struct Postings {
  const std::uint32_t* ids;
  std::uint64_t first;
  std::size_t count;
};

// z[ids[i] * lanes + s] += weight of posting i * x over the `Length` entries (s, x) of a list, for ids below
// `bound`; returns the number of those ids.
template <std::size_t Length, class Weight>
std::size_t scatter_list(const Postings& at, const Weight& weight, std::uint32_t bound,
                         const std::uint16_t* samples, const float* values, std::size_t lanes, float* z) {
  std::size_t i = 0;
  for (; i < at.count && at.ids[i] < bound; ++i) {
    float* row = z + at.ids[i] * lanes;
    const float w = weight(at.first + i);
    for (std::size_t e = 0; e < Length; ++e) row[samples[e]] += w * values[e];
  }
  return i;
}

template <class Weight>
using ScatterList = std::size_t (*)(const Postings&, const Weight&, std::uint32_t, const std::uint16_t*,
                                    const float*, std::size_t, float*);
template <class Weight>
constexpr ScatterList<Weight> kScatterList[] = {nullptr,
                                                scatter_list<1, Weight>,
                                                scatter_list<2, Weight>,
                                                scatter_list<3, Weight>,
                                                scatter_list<4, Weight>,
                                                scatter_list<5, Weight>,
                                                scatter_list<6, Weight>,
                                                scatter_list<7, Weight>,
                                                scatter_list<8, Weight>};

}  // namespace

// z [(end - first) x lanes]: dense features in steps of a few neurons, then listed features.
void WidePostings::add(const BlockFeatures& features, std::size_t first, std::size_t end, std::size_t lanes,
                       float* z, Walk& walk) const {
  float* neuron_0 = z - first * lanes;  // where the scores of neuron 0 would be
  if (!small_.empty()) widen_dense(static_cast<std::uint32_t>(end), walk);
  // Dense columns: few neurons at a time, whose scores stay in the first-level cache.
  const std::size_t step = std::max<std::size_t>(1, kCached / lanes);
  for (std::size_t at = first; at < end;) {
    at = std::min(end, at + step);
    add_dense(features, static_cast<std::uint32_t>(at), lanes, neuron_0, walk);
  }
  add_listed(features, static_cast<std::uint32_t>(end), lanes, neuron_0, walk);
}

// Converts quantized weights of the dense features to floats, for neurons below `end`.
void WidePostings::widen_dense(std::uint32_t end, Walk& walk) const {
  std::size_t count = 0;
  walk.used.clear();
  by_form([&](const auto& weight) {
    std::vector<float>& to = walk.weights;
    for (const Walk::Feature& feature : walk.dense) {
      walk.used.push_back(count);
      for (std::uint64_t p = feature.at; p < feature.end && neurons_[p] < end; ++p) {
        if (count == to.size()) to.resize(2 * count + kernels::kLaneMultiple);
        to[count++] = weight(p);
      }
    }
  });
}

// Continues each dense feature up to neuron `end`: z row n += weight * column, [lanes].
void WidePostings::add_dense(const BlockFeatures& features, std::uint32_t end, std::size_t lanes, float* z,
                             Walk& walk) const {
  const auto& k = kernels::active();
  const bool small = !small_.empty();
  for (std::size_t f = 0; f < walk.dense.size(); ++f) {
    Walk::Feature& feature = walk.dense[f];
    if (feature.at == feature.end || neurons_[feature.at] >= end) continue;
    const float* weights = small ? walk.weights.data() + walk.used[f] : weights_.data() + feature.at;
    const std::size_t met = k.scatter_rows(neurons_.data() + feature.at, weights, feature.end - feature.at,
                                           end, features.columns() + feature.place * lanes, lanes, z, lanes);
    feature.at += met;
    if (small) walk.used[f] += met;
  }
}

// Continues each listed feature up to neuron `end`: z[n * lanes + s] += weight * x for the entries (s, x) of
// its list. kScatterList has a loop of constant length for each length of a list.
void WidePostings::add_listed(const BlockFeatures& features, std::uint32_t end, std::size_t lanes, float* z,
                              Walk& walk) const {
  by_form([&](const auto& weight) {
    using Weight = std::decay_t<decltype(weight)>;
    for (std::size_t f = 0; f < walk.listed.size(); ++f) {
      if (f + kAhead < walk.listed.size()) prefetch_posting(walk.listed[f + kAhead].at);
      Walk::Feature& feature = walk.listed[f];
      feature.at += kScatterList<Weight>[feature.length](
          {neurons_.data() + feature.at, feature.at, feature.end - feature.at}, weight, end,
          features.samples() + feature.place, features.values() + feature.place, lanes, z);
    }
  });
}

void WidePostings::prefetch_posting(std::uint64_t p) const {
  prefetch(neurons_.data() + p);
  if (small_.empty()) return prefetch(weights_.data() + p);
  small_.in_bytes() ? prefetch(small_.q.data() + p) : prefetch(small_.halves.data() + p);
}

void WidePostings::add(const SparseRow& row, std::size_t limit, float* z) const {
  by_form([&](const auto& weight) {
    for (std::size_t i = 0; i < row.ids.size(); ++i) {
      if (count(row.ids[i]) > limit) continue;
      for (std::uint64_t p = offsets_[row.ids[i]]; p < offsets_[row.ids[i] + 1]; ++p)
        z[neurons_[p]] += weight(p) * row.values[i];
    }
  });
}

double WidePostings::bytes_of(double weights, double features) {
  return (features + 1) * sizeof(std::uint64_t) + weights * (sizeof(std::uint32_t) + sizeof(float));
}

std::size_t WidePostings::bytes() const {
  return offsets_.size() * sizeof(std::uint64_t) + neurons_.bytes() + weights_.bytes() + small_.bytes();
}

}  // namespace slide
