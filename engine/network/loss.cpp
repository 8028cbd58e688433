#include "engine/network/loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/kernels/kernels.h"

namespace slide {

namespace {

void clear_lane(const BlockTargets& t, Slice neurons, std::size_t lane, float* z) {
  for (std::size_t a = neurons.first; a < neurons.end(); ++a) z[a * t.lanes + lane] = 0.0f;
}

}  // namespace

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

double BlockTargets::weight_of_sample(std::size_t sample) const {
  if (weights.empty() || labels[sample].empty()) return 1.0;
  double sum = 0.0;
  for (const std::uint32_t label : labels[sample]) sum += weights[label];
  return sum / double(labels[sample].size());
}

namespace {

// Multiplies the probabilities of each sample by weight_of_sample(). factors [lanes]: working memory.
void weigh_by_labels(const BlockTargets& t, Slice samples, float* factors, float* z) {
  if (t.weights.empty()) return;
  for (std::size_t s = samples.first; s < samples.end(); ++s)
    factors[s] = s < t.samples ? static_cast<float>(t.weight_of_sample(s)) : 0.0f;
  for (std::size_t a = 0; a < t.count; ++a) {
    for (std::size_t s = samples.first; s < samples.end(); ++s) z[a * t.lanes + s] *= factors[s];
  }
}

// z -= scale * target at the labels; 0 in the lanes of samples without labels.
void subtract_targets(const BlockTargets& t, Slice samples, float scale, float* z) {
  for (std::size_t s = samples.first; s < samples.end(); ++s) {
    if (s >= t.samples || t.count_labels(s) == 0) {
      clear_lane(t, {0, t.count}, s, z);
      continue;
    }
    const float target = scale / static_cast<float>(t.count_labels(s));
    for (const std::uint32_t at : t.set->labels_of(s))
      z[at * t.lanes + s] -= target * static_cast<float>(t.weight_of_label(at));
  }
}

}  // namespace

// losses[s] = -sum of the weighted logits of the labels / |labels|; the log-norm is added later, by
// softmax_loss() or after softmax_join(). z becomes probabilities within the part, times scale.
void softmax_part(const BlockTargets& t, Slice samples, float scale, float* z, float* log_norm,
                  double* losses) {
  const std::size_t used = std::max(samples.first, std::min(samples.end(), t.samples));
  std::fill(losses + samples.first, losses + samples.end(), 0.0);
  std::fill(log_norm + samples.first, log_norm + samples.end(), -std::numeric_limits<float>::infinity());
  if (t.count == 0 || used == samples.first) return;
  for (std::size_t s = samples.first; s < used; ++s) {
    for (const std::uint32_t at : t.set->labels_of(s))
      losses[s] -= t.weight_of_label(at) * z[at * t.lanes + s] / double(t.count_labels(s));
  }
  kernels::active().softmax_lanes(z + samples.first, t.lanes, t.count, samples.count, scale,
                                  log_norm + samples.first);
}

// Scales the probabilities within a part by the probability of the part, exp(log_norm - total).
void softmax_join(const BlockTargets& t, Slice samples, float scale, const float* total, float* z,
                  float* log_norm) {
  for (std::size_t s = samples.first; s < samples.end(); ++s)
    log_norm[s] = s < t.samples ? std::exp(log_norm[s] - total[s]) : 0.0f;  // probability of the part
  for (std::size_t a = 0; a < t.count; ++a) {
    for (std::size_t s = samples.first; s < samples.end(); ++s) z[a * t.lanes + s] *= log_norm[s];
  }
  weigh_by_labels(t, samples, log_norm, z);
  subtract_targets(t, samples, scale, z);
}

void softmax_loss(const BlockTargets& t, Slice samples, float scale, float* z, float* log_norm,
                  double* losses) {
  softmax_part(t, samples, scale, z, log_norm, losses);
  if (t.count == 0) return;
  for (std::size_t s = samples.first; s < std::min(samples.end(), t.samples); ++s) {
    if (t.count_labels(s) > 0) losses[s] += t.weight_of_sample(s) * log_norm[s];
  }
  weigh_by_labels(t, samples, log_norm, z);
  subtract_targets(t, samples, scale, z);
}

void TargetPlaces::reserve(std::size_t neurons, std::size_t entries) {
  ends_.reserve(slices_of(neurons, kSliceNeurons) + 1);
  places_.reserve(entries);
}

// Counting sort of the (neuron, sample) pairs by slice of neurons.
template <class OfSample>
void TargetPlaces::build(const BlockTargets& t, const OfSample& of_sample) {
  const auto for_each = [&](auto&& visit) {
    for (std::size_t s = 0; s < t.samples; ++s) {
      for (const std::uint32_t at : of_sample(s)) visit(at / kSliceNeurons, at % kSliceNeurons * t.lanes + s);
    }
  };
  ends_.assign(slices_of(t.count, kSliceNeurons) + 1, 0);
  for_each([&](std::size_t slice, std::size_t) { ++ends_[slice + 1]; });
  std::uint32_t total = 0;
  for (std::size_t i = 1; i < ends_.size(); ++i) total += std::exchange(ends_[i], total);
  places_.resize(total);
  for_each([&](std::size_t slice, std::size_t place) {
    places_[ends_[slice + 1]++] = static_cast<std::uint32_t>(place);
  });
}

void TargetPlaces::build(const BlockTargets& t) {
  build(t, [&](std::size_t s) { return t.set->labels_of(s); });
}

void TargetPlaces::build_masked(const BlockTargets& t) {
  build(t, [&](std::size_t s) { return t.set->masked_of(s); });
}

void mask_logits(std::size_t lanes, Slice neurons, std::span<const std::uint32_t> places, float* z) {
  for (const std::uint32_t place : places) z[neurons.first * lanes + place] = kMaskedLogit;
}

// z of one slice of neurons [neurons x lanes]; `places`: offsets of its (label, sample) pairs in the slice.
double logistic_loss(const BlockTargets& t, Slice neurons, std::span<const std::uint32_t> places,
                     double positive_weight, float scale, float* z) {
  double loss = 0.0;
  float* slice = z + neurons.first * t.lanes;
  const auto weight_at = [&](std::uint32_t place) {
    return positive_weight * t.weight_of_label(neurons.first + place / t.lanes);
  };
  if (!t.margins.empty()) {
    for (const std::uint32_t place : places)
      slice[place] -= t.margin_of_label(neurons.first + place / t.lanes);
  }
  // The kernel below counts every neuron as a negative: for a label, subtract that and add its own loss.
  for (const std::uint32_t place : places)
    loss += weight_at(place) * softplus(-double(slice[place])) - softplus(double(slice[place]));
  const auto& k = kernels::active();
  for (std::size_t a = neurons.first; a < neurons.end(); ++a)
    loss += double(k.logistic_loss(z + a * t.lanes, t.samples, scale)) / scale;
  for (std::size_t s = t.samples; s < t.lanes; ++s) clear_lane(t, neurons, s, z);
  for (const std::uint32_t place : places) {
    const double sigma = double(slice[place]) / scale;
    slice[place] = static_cast<float>(weight_at(place) * scale * (sigma - 1.0));
  }
  return loss;
}

double local_loss(const LossConfig& config, const BlockTargets& t, Slice neurons,
                  std::span<const std::uint32_t> places, float scale, float* z) {
  switch (config.kind) {
    case LossKind::kSigmoid:
      return logistic_loss(t, neurons, places, config.positive_weight, scale, z);
    case LossKind::kSoftmax:
      break;  // normalised: softmax_loss()
  }
  return 0.0;
}

void weigh(const BlockTargets& t, Slice neurons, Slice samples, std::span<const float> weights, float* z) {
  if (weights.empty()) return;
  const std::size_t end = std::min(samples.end(), t.samples);
  for (std::size_t a = neurons.first; a < neurons.end(); ++a) {
    for (std::size_t s = samples.first; s < end; ++s) z[a * t.lanes + s] *= weights[s];
  }
}

double log_odds(std::uint32_t with, std::size_t samples) {
  return std::log((double(with) + 1.0) / (double(samples) - double(with) + 1.0));
}

}  // namespace slide
