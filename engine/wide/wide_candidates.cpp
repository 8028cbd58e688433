#include "engine/wide/wide_candidates.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "engine/base/parallel.h"
#include "engine/base/prefetch.h"

namespace slide {

namespace {

constexpr std::size_t kScoresAhead = 16;   // prefetch distance in postings
constexpr std::uint32_t kClassShift = 20;  // scores of a class agree in exponent and three bits of mantissa
constexpr std::size_t kClasses = std::size_t{1} << (31 - kClassShift);  // of positive floats
constexpr std::size_t kTaskFeatures = 1024;

struct Posting {
  std::uint32_t neuron;
  float weight;
};

bool is_stronger(const Posting& a, const Posting& b) {
  const float x = std::fabs(a.weight), y = std::fabs(b.weight);
  return x > y || (x == y && a.neuron < b.neuron);
}

// All weights of the neurons that are not excluded, by feature, neurons ascending; with the offsets of the
// features.
std::vector<Posting> list_by_feature(const LinearTerm::Storage& from, const std::vector<bool>& excluded,
                                     std::vector<std::uint64_t>& offsets) {
  const std::size_t neurons = from.offsets.size() - 1;
  for (std::size_t n = 0; n < neurons; ++n) {
    if (excluded[n]) continue;
    for (std::uint64_t i = from.offsets[n]; i < from.offsets[n + 1]; ++i) ++offsets[from.features[i] + 1];
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<Posting> postings(offsets.back());
  std::vector<std::uint64_t> next(offsets.begin(), offsets.end() - 1);
  for (std::size_t n = 0; n < neurons; ++n) {
    if (excluded[n]) continue;
    for (std::uint64_t i = from.offsets[n]; i < from.offsets[n + 1]; ++i) {
      const float weight = from.small.empty() ? from.weights[i] : from.small.value(n, i);
      postings[next[from.features[i]]++] = {static_cast<std::uint32_t>(n), weight};
    }
  }
  return postings;
}

std::uint32_t class_of(float positive) {
  return std::bit_cast<std::uint32_t>(positive) >> kClassShift;
}

}  // namespace

WideCandidates::WideCandidates(const LinearTerm& wide, std::size_t features,
                               const std::vector<bool>& excluded, int threads, std::size_t strongest)
    : offsets_(features + 1), neuron_count_(excluded.size()) {
  std::vector<std::uint64_t> from(features + 1);
  std::vector<Posting> all = list_by_feature(wide.storage(), excluded, from);
  for (std::size_t f = 0; f < features; ++f)
    offsets_[f + 1] = offsets_[f] + std::min<std::uint64_t>(from[f + 1] - from[f], strongest);
  neurons_ = AlignedArray<std::uint32_t>(offsets_.back());
  weights_ = AlignedArray<float>(offsets_.back());
  parallel_for((features + kTaskFeatures - 1) / kTaskFeatures, threads, [&](std::size_t task, int) {
    for (std::size_t f = task * kTaskFeatures; f < std::min(features, (task + 1) * kTaskFeatures); ++f) {
      const std::span<Posting> list(all.data() + from[f], from[f + 1] - from[f]);
      if (list.size() > strongest) {
        const auto kept = list.begin() + static_cast<std::ptrdiff_t>(strongest);
        std::nth_element(list.begin(), kept, list.end(), is_stronger);
        std::sort(list.begin(), kept, [](const Posting& a, const Posting& b) { return a.neuron < b.neuron; });
      }
      for (std::uint64_t i = 0; i < offsets_[f + 1] - offsets_[f]; ++i) {
        neurons_[offsets_[f] + i] = list[i].neuron;
        weights_[offsets_[f] + i] = list[i].weight;
      }
    }
  });
}

WideCandidates::Scratch WideCandidates::make_scratch() const {
  Scratch scratch;
  scratch.scores = AlignedArray<float>(neuron_count_);
  scratch.of_class.resize(kClasses);
  return scratch;
}

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

}  // namespace slide
