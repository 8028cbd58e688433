#include "engine/wide/wide_candidates.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "engine/base/parallel.h"
#include "engine/base/prefetch.h"
#include "engine/wide/weights_by_feature.h"

namespace slide {

namespace {

constexpr std::size_t kScoresAhead = 16;   // prefetch distance in postings
constexpr std::uint32_t kClassShift = 20;  // scores of a class agree in exponent and three bits of mantissa
constexpr std::size_t kClasses = std::size_t{1} << (31 - kClassShift);  // of positive floats

std::vector<std::uint32_t> without(const std::vector<bool>& excluded) {
  std::vector<std::uint32_t> ids;
  for (std::uint32_t n = 0; n < excluded.size(); ++n) {
    if (!excluded[n]) ids.push_back(n);
  }
  return ids;
}

std::uint32_t class_of(float positive) {
  return std::bit_cast<std::uint32_t>(positive) >> kClassShift;
}

}  // namespace

// Tile by tile: gathers the postings of its features in working memory, then keeps the strongest of each.
WideCandidates::WideCandidates(const LinearTerm& wide, std::size_t features,
                               const std::vector<bool>& excluded, int threads, std::size_t strongest)
    : offsets_(features + 1), neuron_count_(excluded.size()) {
  const LinearTerm::Storage& from = wide.storage();
  const std::vector<std::uint32_t> ids = without(excluded);
  const WeightsByFeature by_feature(from, ids, features, threads);
  const std::vector<std::uint64_t>& all = by_feature.offsets();
  for (std::size_t f = 0; f < features; ++f)
    offsets_[f + 1] = offsets_[f] + std::min<std::uint64_t>(all[f + 1] - all[f], strongest);
  neurons_ = AlignedArray<std::uint32_t>(offsets_.back());
  weights_ = AlignedArray<float>(offsets_.back());
  std::vector<TilePostings> of_thread(static_cast<std::size_t>(std::max(1, threads)));
  parallel_for(by_feature.tiles(), threads, [&](std::size_t tile, int thread) {
    const std::size_t first = by_feature.first_feature(tile), end = by_feature.first_feature(tile + 1);
    TilePostings& postings = of_thread[static_cast<std::size_t>(thread)];
    postings.make_room(all[end] - all[first]);
    by_feature.visit(tile, [&](std::uint64_t place, std::size_t n, std::uint64_t i) {
      postings.neurons[place - all[first]] = ids[n];
      postings.weights[place - all[first]] = from.weight(ids[n], i);
    });
    for (std::size_t f = first; f < end; ++f)
      keep_strongest(postings, all[f] - all[first], all[f + 1] - all[f], f);
  });
}

void WideCandidates::TilePostings::make_room(std::size_t size) {
  if (neurons.size() >= size) return;
  neurons = AlignedArray<std::uint32_t>(size);
  weights = AlignedArray<float>(size);
}

// Stores the strongest of the `count` postings from `begin` on, those of `feature`: as many as fit its place.
// Of equally strong ones the first are stored.
void WideCandidates::keep_strongest(TilePostings& from, std::size_t begin, std::size_t count,
                                    std::size_t feature) {
  const std::uint64_t to = offsets_[feature];
  const std::size_t kept = offsets_[feature + 1] - to;
  const std::uint32_t* neurons = from.neurons.data() + begin;
  const float* weights = from.weights.data() + begin;
  if (kept == count) {
    std::copy_n(neurons, count, neurons_.data() + to);
    std::copy_n(weights, count, weights_.data() + to);
    return;
  }
  std::vector<float>& sizes = from.sizes;
  sizes.resize(count);
  std::ranges::transform(std::span(weights, count), sizes.begin(), [](float w) { return std::fabs(w); });
  const auto last = sizes.begin() + static_cast<std::ptrdiff_t>(kept) - 1;
  std::nth_element(sizes.begin(), last, sizes.end(), std::greater<>());
  const float least = *last;                                // absolute value of the weakest one to keep
  auto equal = std::count(sizes.begin(), last + 1, least);  // number of weights of this strength to keep
  for (std::size_t i = 0, stored = 0; stored < kept; ++i) {
    const float size = std::fabs(weights[i]);
    if (size < least || (size == least && equal == 0)) continue;
    equal -= size == least ? 1 : 0;
    neurons_[to + stored] = neurons[i];
    weights_[to + stored] = weights[i];
    ++stored;
  }
}

WideCandidates::Scratch WideCandidates::make_scratch() const {
  Scratch scratch;
  scratch.scores = AlignedArray<float>(neuron_count_);
  scratch.of_class.resize(kClasses);
  return scratch;
}

// Adds up the postings of the row's features in scores; `touched` grows only where a score was 0 before.
void WideCandidates::start(const SparseRow& row, Scratch& scratch) const {
  std::uint64_t postings = 0;
  for (const std::uint32_t feature : row.ids) {
    prefetch(neurons_.data() + offsets_[feature]);
    prefetch(weights_.data() + offsets_[feature]);
    postings += offsets_[feature + 1] - offsets_[feature];
  }
  if (scratch.touched.size() <= postings) {
    scratch.touched.resize(std::bit_ceil(postings + 1));
    scratch.keys.reserve(scratch.touched.size());
    scratch.values.resize(scratch.touched.size());
  }
  float* scores = scratch.scores.data();
  std::uint32_t* touched = scratch.touched.data();
  std::size_t size = 0;
  for (std::size_t i = 0; i < row.ids.size(); ++i) {
    const std::uint64_t begin = offsets_[row.ids[i]], end = offsets_[row.ids[i] + 1];
    const float value = row.values[i];
    for (std::uint64_t p = begin; p < end; ++p) {
      if (p + kScoresAhead < end) prefetch(scores + neurons_[p + kScoresAhead]);
      const std::uint32_t neuron = neurons_[p];
      touched[size] = neuron;
      size += scores[neuron] == 0.0F ? 1 : 0;  // again after a sum of exactly 0
      scores[neuron] += weights_[p] * value;
    }
  }
  scratch.size = size;
}

// Finds the class of scores in which the answer ends, by a histogram: most neurons are far below it. Scores
// are read once, at random places.
void WideCandidates::best(std::size_t wanted, Scratch& scratch, std::vector<std::uint32_t>& out) const {
  const auto touched = std::span(scratch.touched).first(scratch.size);
  std::uint32_t* of_class = scratch.of_class.data();
  std::fill_n(of_class, kClasses, 0U);
  float* values = scratch.values.data();
  for (std::size_t i = 0; i < touched.size(); ++i) {
    if (i + kScoresAhead < touched.size()) prefetch(scratch.scores.data() + touched[i + kScoresAhead]);
    const float score = scratch.scores[touched[i]];
    values[i] = score > 0.0F ? score : 0.0F;
    ++of_class[class_of(values[i])];
  }
  std::size_t min_class = kClasses - 1, above = 0;
  while (min_class > 0 && above + of_class[min_class] < wanted) above += of_class[min_class--];
  const float bound = std::bit_cast<float>(static_cast<std::uint32_t>(min_class) << kClassShift);
  std::vector<std::uint64_t>& keys = scratch.keys;
  keys.clear();
  for (std::size_t i = 0; i < touched.size(); ++i) {
    if (values[i] > 0.0F && values[i] >= bound)
      keys.push_back(std::uint64_t{std::bit_cast<std::uint32_t>(values[i])} << 32 | ~touched[i]);
  }
  if (wanted < keys.size()) {
    const auto kept = keys.begin() + static_cast<std::ptrdiff_t>(wanted);
    std::nth_element(keys.begin(), kept, keys.end(), std::greater<>());
    keys.erase(kept, keys.end());
  }
  for (const std::uint64_t key : keys) out.push_back(~static_cast<std::uint32_t>(key));
}

void WideCandidates::clear(Scratch& scratch) const {
  for (const std::uint32_t neuron : std::span(scratch.touched).first(scratch.size))
    scratch.scores[neuron] = 0.0F;
}

std::size_t WideCandidates::bytes() const {
  return offsets_.size() * sizeof(std::uint64_t) + neurons_.bytes() + weights_.bytes();
}

double WideCandidates::bytes_of(double weights, double features) {
  return (features + 1) * sizeof(std::uint64_t) +
         std::min(weights, features * double(kStrongest)) * (sizeof(std::uint32_t) + sizeof(float));
}

// Each thread holds the postings of a tile, which end with all those of a feature.
double WideCandidates::making_bytes_of(double weights, double neurons, double features, int threads) {
  const double tile = weights / WeightsByFeature::kMaxTiles + neurons;
  return WeightsByFeature::bytes_of(neurons, features) +
         std::min(weights, double(threads) * tile) * (sizeof(std::uint32_t) + sizeof(float)) +
         neurons * sizeof(std::uint32_t);
}

}  // namespace slide
