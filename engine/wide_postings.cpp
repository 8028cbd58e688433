#include "engine/wide_postings.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "engine/kernels/kernels.h"

namespace slide {

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
      const std::uint32_t place = features.places()[walk.features.size()];
      walk.features.push_back({offsets_[f], offsets_[f + 1], place / kernels::kKinds, features.length_of(place)});
    }
  }
}

namespace {

// z[ids[i] * lanes + s] += weights[i] * x for the `Length` entries (s, x) of a list, up to the first id of at least
// `bound`; returns how many came before.
template <std::size_t Length>
std::size_t scatter_list(const std::uint32_t* ids, const float* weights, std::size_t count, std::uint32_t bound,
                         const std::uint16_t* samples, const float* values, std::size_t lanes, float* z) {
  std::size_t i = 0;
  for (; i < count && ids[i] < bound; ++i) {
    float* row = z + ids[i] * lanes;
    for (std::size_t e = 0; e < Length; ++e) row[samples[e]] += weights[i] * values[e];
  }
  return i;
}

using ScatterList = std::size_t (*)(const std::uint32_t*, const float*, std::size_t, std::uint32_t,
                                    const std::uint16_t*, const float*, std::size_t, float*);
constexpr ScatterList kScatterList[] = {nullptr,         scatter_list<1>, scatter_list<2>, scatter_list<3>, scatter_list<4>,
                                        scatter_list<5>, scatter_list<6>, scatter_list<7>, scatter_list<8>};

}  // namespace

void WidePostings::add(const BlockFeatures& features, std::size_t first, std::size_t end, std::size_t lanes,
                       float* z, Walk& walk) const {
  constexpr std::size_t kAhead = 8;  // features
  const auto& k = kernels::active();
  const auto bound = static_cast<std::uint32_t>(end);
  float* neuron_0 = z - first * lanes;
  for (std::size_t f = 0; f < walk.features.size(); ++f) {
    if (f + kAhead < walk.features.size()) {
      const std::uint64_t soon = walk.features[f + kAhead].at;
      __builtin_prefetch(neurons_.data() + soon);
      __builtin_prefetch(weights_.data() + soon);
    }
    Walk::Feature& feature = walk.features[f];
    const std::uint64_t at = feature.at, left = feature.end - at;
    if (feature.length == 0) {
      feature.at += k.scatter_rows(neurons_.data() + at, weights_.data() + at, left, bound,
                                   features.columns() + feature.place * lanes, lanes, neuron_0, lanes);
    } else {
      feature.at += kScatterList[feature.length](neurons_.data() + at, weights_.data() + at, left, bound,
                                                 features.samples() + feature.place,
                                                 features.values() + feature.place, lanes, neuron_0);
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
