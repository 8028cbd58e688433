#include "engine/features/likeness_learning.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/parallel.h"
#include "engine/kernels/bf16.h"

namespace slide {

using kernels::from_bf16, kernels::to_bf16;

namespace {

constexpr std::size_t kCompared = 64;  // samples of a feature that are compared by their labels, at most
constexpr double kUnknown = 5;         // samples that a feature is thought to have besides, of usual labels
constexpr double kMostFirst = 2;       // times the factor of the mean coherence, or as many times less
constexpr double kEnough = 2.0;        // added to the root of a feature's squares
constexpr float kLeastLog = -6.0f, kMostLog = 4.0f;
constexpr double kLeastLikeness = 1e-3;
constexpr std::size_t kMostSlices = 16, kLeastSlices = 4;
constexpr std::size_t kSliceFloats = std::size_t{1} << 25;  // of all slices, if that leaves enough of them

// Depends on the data alone, as the sums do.
std::size_t slices_for(std::size_t features) {
  return std::clamp(kSliceFloats / std::max<std::size_t>(features, 1), kLeastSlices, kMostSlices);
}

constexpr double power_of(double likeness) {
  static_assert(LikenessLearning::kPower == 4.0);
  return likeness * likeness * (likeness * likeness);
}

// Calls body(i) for each i whose label in `own` is among `others`, both ascending.
template <class Body>
void each_shared(std::span<const std::uint32_t> own, std::span<const std::uint32_t> others, Body&& body) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    while (at < others.size() && others[at] < own[i]) ++at;
    if (at == others.size()) return;
    if (others[at] == own[i]) body(i);
  }
}

std::size_t step_for(std::size_t samples) {
  return std::max<std::size_t>(samples / LikenessLearning::kMostAsked, 1);
}

}  // namespace

LikenessLearning::LikenessLearning(const Neighbours& samples, int threads)
    : neighbours_(samples),
      samples_(samples.storage()),
      threads_(threads),
      step_(step_for(samples.samples())),
      asked_((samples.samples() + step_ - 1) / step_),
      logs_(samples.features(), 0.0f) {}

double LikenessLearning::bytes_of(double samples, double features, int threads) {
  const auto count = static_cast<std::size_t>(samples);
  const double asked = samples / double(step_for(count));
  const auto slices = double(slices_for(static_cast<std::size_t>(features)));
  return asked * double(kNearest + 1) * sizeof(std::uint32_t) + 2 * samples * sizeof(float) +
         features * (2 * sizeof(float) + sizeof(double) + slices * sizeof(float)) +
         threads * Neighbours::scratch_bytes_of(samples, features);
}

std::span<const std::uint32_t> LikenessLearning::labels_of(std::uint32_t sample) const {
  const std::uint64_t first = samples_.label_offsets[sample];
  return std::span(samples_.labels).subspan(first, samples_.label_offsets[sample + std::size_t{1}] - first);
}

std::span<const std::uint32_t> LikenessLearning::candidates_of(std::size_t asked) const {
  return std::span(candidates_).subspan(asked * kNearest, counts_[asked]);
}

std::vector<std::uint16_t> LikenessLearning::rounded() const {
  std::vector<std::uint16_t> weights(logs_.size());
  std::ranges::transform(logs_, weights.begin(), [](float log) { return to_bf16(std::exp(log)); });
  return weights;
}

// Mean cosine of the labels of two samples that have the feature; below 0 where only one has it.
double LikenessLearning::coherence_of(std::uint32_t feature,
                                      std::vector<std::pair<std::uint32_t, float>>& labels) const {
  const auto samples = neighbours_.samples_with(feature);
  if (samples.size() < 2) return -1.0;
  const std::size_t step = (samples.size() + kCompared - 1) / kCompared;
  labels.clear();
  double count = 0.0;
  for (std::size_t s = 0; s < samples.size(); s += step, ++count) {
    for (const std::uint32_t label : labels_of(samples[s]))
      labels.emplace_back(label, label_weights_[label] * label_norms_[samples[s]]);
  }
  std::sort(labels.begin(), labels.end());
  double square = 0.0;
  for (std::size_t at = 0; at < labels.size();) {
    double sum = 0.0;
    const std::uint32_t label = labels[at].first;
    for (; at < labels.size() && labels[at].first == label; ++at) sum += labels[at].second;
    square += sum * sum;
  }
  return std::max(square - count, 0.0) / (count * (count - 1));
}

std::vector<std::uint16_t> LikenessLearning::first_weights() {
  const std::size_t samples = samples_.samples(), features = logs_.size();
  label_weights_.assign(*std::ranges::max_element(samples_.labels) + std::size_t{1}, 0.0f);
  for (const std::uint32_t label : samples_.labels) ++label_weights_[label];
  for (float& weight : label_weights_)
    if (weight > 0) weight = static_cast<float>(std::log(double(samples) / weight));
  label_norms_.resize(samples);
  for (std::uint32_t i = 0; i < samples; ++i) {
    double square = 0.0;
    for (const std::uint32_t label : labels_of(i))
      square += double(label_weights_[label]) * label_weights_[label];
    label_norms_[i] = square > 0 ? static_cast<float>(1.0 / std::sqrt(square)) : 0.0f;
  }
  std::vector<double> coherence(features);
  std::vector<std::vector<std::pair<std::uint32_t, float>>> labels(static_cast<std::size_t>(threads_));
  parallel_for(features, threads_, [&](std::size_t f, int thread) {
    coherence[f] = coherence_of(static_cast<std::uint32_t>(f), labels[static_cast<std::size_t>(thread)]);
  });
  double sum = 0.0, known = 0.0;
  for (const double one : coherence) {
    if (one < 0) continue;
    sum += one;
    ++known;
  }
  for (std::size_t f = 0; f < features && sum > 0; ++f) {
    if (coherence[f] < 0) continue;
    const double usual = sum / known;
    const auto count = double(neighbours_.samples_with(static_cast<std::uint32_t>(f)).size());
    const double mean = (coherence[f] * count + kUnknown * usual) / (count + kUnknown);
    logs_[f] = static_cast<float>(std::log(std::clamp(std::sqrt(mean / usual), 1 / kMostFirst, kMostFirst)));
  }
  return rounded();
}

void LikenessLearning::find_candidates(const Neighbours& samples) {
  candidates_.resize(asked_ * kNearest);
  counts_.assign(asked_, 0);
  struct Asking {
    Neighbours::Scratch find;
    std::vector<float> values;
  };
  std::vector<Asking> asking(static_cast<std::size_t>(threads_));
  for (Asking& one : asking) one.find = samples.make_scratch();
  parallel_for(asked_, threads_, [&](std::size_t asked, int thread) {
    Asking& one = asking[static_cast<std::size_t>(thread)];
    const std::uint32_t sample = sample_of(asked);
    const std::uint64_t first = samples_.feature_offsets[sample],
                        end = samples_.feature_offsets[sample + std::size_t{1}];
    one.values.clear();
    for (std::uint64_t at = first; at < end; ++at) one.values.push_back(samples_.value(sample, at));
    samples.find({std::span(samples_.features).subspan(first, end - first), one.values}, one.find);
    for (const auto& [likeness, other] : one.find.likeness) {
      if (other != sample && counts_[asked] < kNearest)
        candidates_[asked * kNearest + counts_[asked]++] = other;
    }
  });
}

// Factors and norms from the logarithms.
void LikenessLearning::measure() {
  factors_.resize(logs_.size());
  std::ranges::transform(logs_, factors_.begin(), [](float log) { return std::exp(log); });
  norms_.resize(samples_.samples());
  parallel_for(norms_.size(), threads_,
               [&](std::size_t i, int) { norms_[i] = samples_.norm_with(factors_, i); });
}

// Cosines of the sample in scratch.asked with others, and the votes of these for its labels.
void LikenessLearning::vote(std::uint32_t sample, std::span<const std::uint32_t> others,
                            Scratch& scratch) const {
  const auto labels = labels_of(sample);
  scratch.likeness.clear();
  scratch.votes.assign(labels.size() + 1, 0.0);  // behind those for labels, the sum of all
  double& all = scratch.votes.back() = power_of(Neighbours::kStranger);
  for (const std::uint32_t other : others) {
    float dot = 0.0f;
    for (std::uint64_t at = samples_.feature_offsets[other];
         at < samples_.feature_offsets[other + std::size_t{1}]; ++at) {
      const std::uint32_t f = samples_.features[at];
      dot += scratch.asked[f] * (from_bf16(samples_.values[at]) * factors_[f]);
    }
    const double likeness = std::clamp(double(dot) * norms_[other], kLeastLikeness, 1.0);
    const double vote = power_of(likeness);
    scratch.likeness.push_back(likeness);
    all += vote;
    each_shared(labels, labels_of(other), [&](std::size_t l) { scratch.votes[l] += vote; });
  }
}

// Adds what one sample that is asked about adds to the gradient of the logarithms; returns its likelihood.
double LikenessLearning::add_gradient(std::size_t asked, Scratch& scratch, std::span<float> gradient) const {
  const auto others = candidates_of(asked);
  if (others.empty()) return 0.0;
  const std::uint32_t sample = sample_of(asked);
  const std::uint64_t first = samples_.feature_offsets[sample],
                      end = samples_.feature_offsets[sample + std::size_t{1}];
  for (std::uint64_t at = first; at < end; ++at) {
    const std::uint32_t f = samples_.features[at];
    scratch.asked[f] = from_bf16(samples_.values[at]) * factors_[f] * norms_[sample];
  }
  vote(sample, others, scratch);
  const auto labels = labels_of(sample);
  const double all = scratch.votes.back();
  double mean = 0.0;  // of d / d v_y, weighted by v_y
  double likelihood = 0.0;
  scratch.gain.resize(labels.size());
  for (std::size_t l = 0; l < labels.size(); ++l) {
    const double v = scratch.votes[l] / all;
    scratch.gain[l] = 1.0 / (double(labels.size()) * (v + kLeastVote));
    mean += scratch.gain[l] * v;
    likelihood += std::log(v + kLeastVote) / double(labels.size());
  }
  double own = 0.0;
  for (std::size_t c = 0; c < others.size(); ++c) {
    double gain = -mean;
    each_shared(labels, labels_of(others[c]), [&](std::size_t l) { gain += scratch.gain[l]; });
    const double likeness = scratch.likeness[c];
    const auto by = static_cast<float>(kPower * power_of(likeness) / likeness * gain / all);
    own += by * likeness;
    const float norm = norms_[others[c]], turn = by * static_cast<float>(likeness);
    for (std::uint64_t at = samples_.feature_offsets[others[c]];
         at < samples_.feature_offsets[others[c] + std::size_t{1}]; ++at) {
      const std::uint32_t f = samples_.features[at];
      const float value = from_bf16(samples_.values[at]) * factors_[f] * norm;
      gradient[f] += (2.0f * by * scratch.asked[f] - turn * value) * value;
    }
  }
  for (std::uint64_t at = first; at < end; ++at) {
    const std::uint32_t f = samples_.features[at];
    gradient[f] -= static_cast<float>(own) * scratch.asked[f] * scratch.asked[f];
    scratch.asked[f] = 0.0f;
  }
  return likelihood;
}

// The gradients of samples number batch + k * kBatches, in slices that are added up in their order later;
// returns their likelihood.
double LikenessLearning::add_up(std::size_t batch) {
  const std::size_t count = (asked_ - std::min(batch, asked_) + kBatches - 1) / kBatches;
  parallel_for(gradients_.size(), threads_, [&](std::size_t slice, int thread) {
    std::ranges::fill(gradients_[slice], 0.0f);
    const std::size_t end = count * (slice + 1) / gradients_.size();
    double& likelihood = likelihoods_[slice] = 0.0;
    Scratch& scratch = scratch_[static_cast<std::size_t>(thread)];
    for (std::size_t k = count * slice / gradients_.size(); k < end; ++k)
      likelihood += add_gradient(batch + k * kBatches, scratch, gradients_[slice]);
  });
  return std::accumulate(likelihoods_.begin(), likelihoods_.end(), 0.0);
}

void LikenessLearning::climb(double rate) {
  parallel_for(logs_.size(), threads_, [&](std::size_t f, int) {
    double gradient = 0.0;
    for (const std::vector<float>& slice : gradients_) gradient += slice[f];
    if (gradient == 0) return;
    squares_[f] += gradient * gradient;
    const double log = logs_[f] + rate * gradient / (std::sqrt(squares_[f]) + kEnough);
    logs_[f] = std::clamp(static_cast<float>(log), kLeastLog, kMostLog);
  });
}

void LikenessLearning::prepare() {
  squares_.assign(logs_.size(), 0.0);
  gradients_.assign(slices_for(logs_.size()), std::vector<float>(logs_.size()));
  likelihoods_.resize(gradients_.size());
  scratch_.resize(static_cast<std::size_t>(threads_));
  for (Scratch& scratch : scratch_) scratch.asked.assign(logs_.size(), 0.0f);
}

LikenessLearning::Slope LikenessLearning::slope_at(std::span<const float> logs) {
  logs_.assign(logs.begin(), logs.end());
  prepare();
  measure();
  Slope slope{0.0, std::vector<double>(logs_.size(), 0.0)};
  for (std::size_t batch = 0; batch < kBatches; ++batch) {
    slope.likelihood += add_up(batch);
    for (const std::vector<float>& slice : gradients_)
      for (std::size_t f = 0; f < slice.size(); ++f) slope.gradient[f] += slice[f];
  }
  return slope;
}

std::vector<std::uint16_t> LikenessLearning::learn() {
  prepare();
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::size_t batch = 0; batch < kBatches; ++batch) {
      measure();
      add_up(batch);
      climb(kRate * (1.0 - double(round) / kRounds));
    }
  }
  return rounded();
}

void learn_likeness(Neighbours& neighbours, int threads) {
  if (!neighbours.learns()) return;
  LikenessLearning learning(neighbours, threads);
  neighbours.set_feature_weights(learning.first_weights());
  learning.find_candidates(neighbours);
  neighbours.set_feature_weights(learning.learn());
}

}  // namespace slide
