#include "engine/knn/feature_weight_learning.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/parallel.h"
#include "engine/base/prefetch.h"
#include "engine/kernels/bf16.h"

namespace slide {

using kernels::from_bf16, kernels::to_bf16;

namespace {

constexpr std::size_t kMaxCompared = 64;          // max samples per feature whose labels are compared
constexpr double kPriorCount = 5;                 // pseudo-samples of mean coherence per feature (smoothing)
constexpr double kMaxInitialRatio = 2;            // max ratio between an initial factor and the mean factor
constexpr double kAdagradOffset = 2.0;            // offset of the Adagrad denominator
constexpr float kMinLog = -6.0f, kMaxLog = 4.0f;  // range of the logarithm of a factor
constexpr double kMinSimilarity = 1e-3;           // smaller cosines count as this one
constexpr std::size_t kMaxSlices = 16, kMinSlices = 4;  // of a batch, each with a gradient of its own
// max floats of all slices, as long as kMinSlices remain
constexpr std::size_t kSliceFloats = std::size_t{1} << 25;

// Depends only on the data, so that sums do not depend on the number of threads.
std::size_t slices_for(std::size_t samples, std::size_t features) {
  return std::clamp(kSliceFloats / std::max<std::size_t>(samples + features, 1), kMinSlices, kMaxSlices);
}

constexpr double power_of(double similarity) {
  static_assert(FeatureWeightLearning::kPower == 4.0);
  return similarity * similarity * (similarity * similarity);
}

// Calls body(i) for each index i of `own` whose label also occurs in `others`; both ascend.
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
  return std::max<std::size_t>(samples / FeatureWeightLearning::kMaxQueries, 1);
}

}  // namespace

FeatureWeightLearning::FeatureWeightLearning(const Neighbours& samples, int threads)
    : neighbours_(samples),
      samples_(samples.storage()),
      threads_(threads),
      step_(step_for(samples.samples())),
      query_count_((samples.samples() + step_ - 1) / step_),
      slice_count_(slices_for(samples.samples(), samples.features())),
      log_factors_(samples.features(), 0.0f) {}

double FeatureWeightLearning::bytes_of(double samples, double features, double labels, double entries,
                                       int threads) {
  const double queries = samples / double(step_for(static_cast<std::size_t>(samples)));
  const auto slices =
      double(slices_for(static_cast<std::size_t>(samples), static_cast<std::size_t>(features)));
  // Near samples share a part of their features: about .5 of `entries` on debian-depends, .76 on
  // tate-subjects.
  const double shared =
      std::min(double(kMaxShared), 0.68 * double(kNearest) * entries / std::max(samples, 1.0));
  const double first = threads * labels * sizeof(float);
  const double learning =
      queries * (sizeof(Query) + double(kNearest) * sizeof(Candidate) + shared * sizeof(Shared)) +
      2 * samples * sizeof(float) + features * (2 * sizeof(float) + sizeof(double)) +
      slices * (samples + features) * sizeof(float) +
      threads * (Neighbours::scratch_bytes_of(samples, features) + features * sizeof(std::uint16_t));
  return labels * sizeof(float) + std::max(first, learning);
}

std::vector<std::uint16_t> FeatureWeightLearning::feature_weights() const {
  std::vector<std::uint16_t> weights(log_factors_.size());
  std::ranges::transform(log_factors_, weights.begin(), [](float log) { return to_bf16(std::exp(log)); });
  return weights;
}

// Mean cosine between the label vectors of two samples that have the feature; negative where fewer than two
// have it.
double FeatureWeightLearning::coherence_of(std::uint32_t feature, LabelSum& sum) const {
  const auto samples = neighbours_.samples_with(feature);
  if (samples.size() < 2) return -1.0;
  const std::size_t step = (samples.size() + kMaxCompared - 1) / kMaxCompared;
  // Random access: prefetch all rows first.
  for (std::size_t s = 0; s < samples.size(); s += step) prefetch(&samples_.label_offsets[samples[s]]);
  for (std::size_t s = 0; s < samples.size(); s += step) {
    prefetch(&samples_.labels[samples_.label_offsets[samples[s]]]);
    prefetch(&label_norms_[samples[s]]);
  }
  sum.touched.clear();
  double count = 0.0;
  for (std::size_t s = 0; s < samples.size(); s += step, ++count) {
    for (const std::uint32_t label : samples_.labels_of(samples[s])) {
      sum.by_label[label] += label_weights_[label] * label_norms_[samples[s]];
      sum.touched.push_back(label);
    }
  }
  double square = 0.0;
  for (const std::uint32_t label : sum.touched)
    square += double(sum.by_label[label]) * std::exchange(sum.by_label[label], 0.0f);
  return std::max(square - count, 0.0) / (count * (count - 1));
}

// Sets the idf of the labels and the norms of the samples' label vectors.
void FeatureWeightLearning::set_label_weights() {
  const std::size_t samples = samples_.samples();
  label_weights_.assign(*std::ranges::max_element(samples_.labels) + std::size_t{1}, 0.0f);
  for (const std::uint32_t label : samples_.labels) ++label_weights_[label];
  for (float& weight : label_weights_)
    if (weight > 0) weight = static_cast<float>(std::log(double(samples) / weight));
  label_norms_.resize(samples);
  for (std::uint32_t i = 0; i < samples; ++i) {
    double square = 0.0;
    for (const std::uint32_t label : samples_.labels_of(i))
      square += double(label_weights_[label]) * label_weights_[label];
    label_norms_[i] = square > 0 ? static_cast<float>(1.0 / std::sqrt(square)) : 0.0f;
  }
}

// factor = sqrt(smoothed coherence / mean coherence), at most kMaxInitialRatio or its inverse.
std::vector<std::uint16_t> FeatureWeightLearning::initial_weights() {
  set_label_weights();
  const std::size_t features = log_factors_.size();
  std::vector<double> coherence(features);  // by feature; negative: unknown
  std::vector<LabelSum> sums(static_cast<std::size_t>(threads_));
  for (LabelSum& one : sums) one.by_label.resize(label_weights_.size());
  parallel_for(features, threads_, [&](std::size_t f, int thread) {
    coherence[f] = coherence_of(static_cast<std::uint32_t>(f), sums[static_cast<std::size_t>(thread)]);
  });
  double sum = 0.0, known = 0.0;
  for (const double one : coherence) {
    if (one < 0) continue;
    sum += one;
    ++known;
  }
  for (std::size_t f = 0; f < features && sum > 0; ++f) {
    if (coherence[f] < 0) continue;
    const double mean = sum / known;
    const auto count = double(neighbours_.samples_with(static_cast<std::uint32_t>(f)).size());
    const double smoothed = (coherence[f] * count + kPriorCount * mean) / (count + kPriorCount);
    const double factor = std::clamp(std::sqrt(smoothed / mean), 1 / kMaxInitialRatio, kMaxInitialRatio);
    log_factors_[f] = static_cast<float>(std::log(factor));
  }
  return feature_weights();
}

// A task searches the candidates of the queries in one slice of one batch.
void FeatureWeightLearning::find_candidates(const Neighbours& samples) {
  slices_.assign(kBatches * slice_count_, {});
  struct SearchScratch {
    Neighbours::Scratch find;
    std::vector<float> values;
    std::vector<std::uint16_t> places;  // by feature: 1 + index within the query, or 0
  };
  std::vector<SearchScratch> of_thread(static_cast<std::size_t>(threads_));
  for (SearchScratch& scratch : of_thread) {
    scratch.find = samples.make_scratch();
    scratch.places.assign(log_factors_.size(), 0);
  }
  parallel_for(slices_.size(), threads_, [&](std::size_t s, int thread) {
    SearchScratch& scratch = of_thread[static_cast<std::size_t>(thread)];
    // Query number q belongs to batch q % kBatches; a slice has consecutive queries of its batch.
    const std::size_t batch = s / slice_count_, slice = s % slice_count_;
    const std::size_t count = (query_count_ - std::min(batch, query_count_) + kBatches - 1) / kBatches;
    const std::size_t begin = count * slice / slice_count_, end = count * (slice + 1) / slice_count_;
    slices_[s].reserve(end - begin);
    for (std::size_t k = begin; k < end; ++k) {
      const auto sample = static_cast<std::uint32_t>((batch + k * kBatches) * step_);
      const auto features = samples_.features_of(sample);
      if (features.size() >= UINT16_MAX || samples_.labels_of(sample).size() > UINT16_MAX) continue;
      scratch.values.clear();
      for (std::size_t p = 0; p < features.size(); ++p) {
        scratch.values.push_back(samples_.value(sample, samples_.feature_offsets[sample] + p));
        scratch.places[features[p]] = static_cast<std::uint16_t>(p + 1);
      }
      samples.find({features, scratch.values}, scratch.find);
      list_candidates(sample, scratch.find.similarity, scratch.places, slices_[s]);
      for (const std::uint32_t f : features) scratch.places[f] = 0;
    }
  });
}

// Appends a query and its candidates from `similarity`, with their shared features and labels.
void FeatureWeightLearning::list_candidates(std::uint32_t sample,
                                            std::span<const std::pair<float, std::uint32_t>> similarity,
                                            std::span<const std::uint16_t> places, Slice& to) const {
  to.queries.push_back({sample, 0, to.candidates.size(), to.shared.size(), to.labels.size()});
  Query& query = to.queries.back();
  const auto nearest = similarity.first(std::min(similarity.size(), kNearest + 1));
  for (const auto& [cosine, other] : nearest) prefetch(&samples_.label_offsets[other]);
  for (const auto& [cosine, other] : nearest) prefetch(&samples_.labels[samples_.label_offsets[other]]);
  for (const auto& [cosine, other] : nearest) {
    if (other == sample) continue;
    if (query.count == kNearest) return;
    Candidate candidate{other, 0, 0};
    const auto features = samples_.features_of(other);
    const std::size_t first = to.shared.size();
    if (first + features.size() > query.shared + kMaxShared) return;
    to.shared.resize(first + features.size());
    const std::uint16_t* values = samples_.values.data() + samples_.feature_offsets[other];
    std::size_t end = first;
    for (std::size_t p = 0; p < features.size(); ++p) {  // branch-free: the branch is unpredictable
      const std::uint16_t place = places[features[p]];
      to.shared[end] = {static_cast<std::uint16_t>(place - 1), values[p]};
      end += place != 0 ? 1 : 0;
    }
    to.shared.resize(end);
    candidate.features = static_cast<std::uint16_t>(end - first);
    each_shared(samples_.labels_of(sample), samples_.labels_of(other), [&](std::size_t l) {
      to.labels.push_back(static_cast<std::uint16_t>(l));
      ++candidate.labels;
    });
    to.candidates.push_back(candidate);
    ++query.count;
  }
}

// Computes factors and norms from their logarithms.
void FeatureWeightLearning::update_factors() {
  factors_.resize(log_factors_.size());
  std::ranges::transform(log_factors_, factors_.begin(), [](float log) { return std::exp(log); });
  samples_.compute_norms(factors_, threads_, norms_);
}

// Computes the cosines between the query and its candidates (scratch.similarity), and the votes of the
// candidates, cosine^kPower, summed by label of the query (scratch.votes).
void FeatureWeightLearning::compute_votes(const Slice& slice, const Query& query, Scratch& scratch) const {
  const std::uint32_t sample = query.sample;
  const auto features = samples_.features_of(sample);
  const std::uint16_t* values = samples_.values.data() + samples_.feature_offsets[sample];
  scratch.query.resize(features.size());
  for (std::size_t p = 0; p < features.size(); ++p) {
    const float factor = factors_[features[p]];
    scratch.query[p] = from_bf16(values[p]) * factor * factor * norms_[sample];
  }
  scratch.similarity.clear();
  // The last element is the sum over all candidates and the prior pseudo-neighbour.
  scratch.votes.assign(samples_.labels_of(sample).size() + 1, 0.0);
  double& all = scratch.votes.back() = power_of(Neighbours::kPriorNeighbour);
  slice.each(query, [&](const Candidate& one, const Shared* shared, const std::uint16_t* labels) {
    float dot = 0.0f;
    for (std::size_t e = 0; e < one.features; ++e)
      dot += scratch.query[shared[e].place] * from_bf16(shared[e].value);
    const double similarity = std::clamp(double(dot) * norms_[one.sample], kMinSimilarity, 1.0);
    const double vote = power_of(similarity);
    scratch.similarity.push_back(similarity);
    all += vote;
    for (std::size_t l = 0; l < one.labels; ++l) scratch.votes[labels[l]] += vote;
  });
}

// Adds one query's contribution to the gradient with respect to the logarithms, without the norm terms and
// without the square of each factor; returns its log-likelihood. For rows a and b of unit length, the
// derivative of their cosine by the logarithm of factor f is
//   2 a[f] b[f] - cosine (a[f]^2 + b[f]^2)
// The second part (norm term) is first summed by row.
double FeatureWeightLearning::add_gradient(const Slice& slice, const Query& query, Scratch& scratch,
                                           Gradient& gradient) const {
  if (query.count == 0) return 0.0;
  compute_votes(slice, query, scratch);
  const std::size_t labels = scratch.votes.size() - 1;
  const double all = scratch.votes.back();
  double mean = 0.0;  // mean of gain[y] = d likelihood / d v_y, weighted by v_y
  double likelihood = 0.0;
  scratch.gain.resize(labels);
  for (std::size_t l = 0; l < labels; ++l) {
    const double v = scratch.votes[l] / all;
    scratch.gain[l] = 1.0 / (double(labels) * (v + kMinVote));
    mean += scratch.gain[l] * v;
    likelihood += std::log(v + kMinVote) / double(labels);
  }
  scratch.shared.assign(scratch.query.size(), 0.0f);
  double query_norm_term = 0.0;
  std::size_t c = 0;  // number of the candidate
  slice.each(query, [&](const Candidate& one, const Shared* shared, const std::uint16_t* shared_labels) {
    double gain = -mean;
    for (std::size_t l = 0; l < one.labels; ++l) gain += scratch.gain[shared_labels[l]];
    const double similarity = scratch.similarity[c++];
    // d likelihood / d cosine
    const double slope = kPower * power_of(similarity) / similarity * gain / all;
    query_norm_term += slope * similarity;
    gradient.norm_terms[one.sample] += static_cast<float>(slope * similarity);
    const auto scale = static_cast<float>(2.0 * slope) * norms_[one.sample];
    for (std::size_t e = 0; e < one.features; ++e)
      scratch.shared[shared[e].place] += scale * from_bf16(shared[e].value);
  });
  gradient.norm_terms[query.sample] += static_cast<float>(query_norm_term);
  const auto features = samples_.features_of(query.sample);
  const std::uint16_t* values = samples_.values.data() + samples_.feature_offsets[query.sample];
  for (std::size_t p = 0; p < features.size(); ++p)
    gradient.features[features[p]] += from_bf16(values[p]) * norms_[query.sample] * scratch.shared[p];
  return likelihood;
}

// Computes the gradients of a batch per slice, which gradient_of() sums in slice order; returns the
// log-likelihood.
double FeatureWeightLearning::compute_gradients(std::size_t batch) {
  parallel_for(slice_count_, threads_, [&](std::size_t s, int thread) {
    Gradient& gradient = gradients_[s];
    std::ranges::fill(gradient.features, 0.0f);
    std::ranges::fill(gradient.norm_terms, 0.0f);
    gradient.likelihood = 0.0;
    const Slice& slice = slices_[batch * slice_count_ + s];
    Scratch& scratch = scratch_[static_cast<std::size_t>(thread)];
    for (const Query& query : slice.queries)
      gradient.likelihood += add_gradient(slice, query, scratch, gradient);
  });
  parallel_for(slice_count_, threads_, [&](std::size_t s, int) {
    const std::size_t count = samples_.samples(), end = count * (s + 1) / slice_count_;
    for (std::size_t i = count * s / slice_count_; i < end; ++i)
      subtract_norm_term(i, gradients_[s].features);
  });
  return std::accumulate(gradients_.begin(), gradients_.end(), 0.0,
                         [](double sum, const Gradient& one) { return sum + one.likelihood; });
}

// Subtracts the norm term of a sample, summed over all slices.
void FeatureWeightLearning::subtract_norm_term(std::size_t sample, std::span<float> gradient) const {
  float sum = 0.0f;
  for (const Gradient& one : gradients_) sum += one.norm_terms[sample];
  if (sum == 0) return;
  const float factor = sum * norms_[sample] * norms_[sample];
  for (std::uint64_t at = samples_.feature_offsets[sample]; at < samples_.feature_offsets[sample + 1]; ++at) {
    const float value = from_bf16(samples_.values[at]);
    gradient[samples_.features[at]] -= factor * value * value;
  }
}

double FeatureWeightLearning::gradient_of(std::size_t feature) const {
  double sum = 0.0;
  for (const Gradient& slice : gradients_) sum += slice.features[feature];
  return sum * factors_[feature] * factors_[feature];
}

// An Adagrad step upwards.
void FeatureWeightLearning::ascend(double rate) {
  parallel_for(log_factors_.size(), threads_, [&](std::size_t f, int) {
    const double gradient = gradient_of(f);
    if (gradient == 0) return;
    squares_[f] += gradient * gradient;
    const double log = log_factors_[f] + rate * gradient / (std::sqrt(squares_[f]) + kAdagradOffset);
    log_factors_[f] = std::clamp(static_cast<float>(log), kMinLog, kMaxLog);
  });
}

// Allocates what the passes need.
void FeatureWeightLearning::prepare() {
  squares_.assign(log_factors_.size(), 0.0);
  gradients_.resize(slice_count_);
  for (Gradient& gradient : gradients_) {
    gradient.features.resize(log_factors_.size());
    gradient.norm_terms.resize(samples_.samples());
  }
  scratch_.resize(static_cast<std::size_t>(threads_));
}

FeatureWeightLearning::Slope FeatureWeightLearning::slope_at(std::span<const float> logs) {
  log_factors_.assign(logs.begin(), logs.end());
  prepare();
  update_factors();
  Slope slope{0.0, std::vector<double>(log_factors_.size(), 0.0)};
  for (std::size_t batch = 0; batch < kBatches; ++batch) {
    slope.likelihood += compute_gradients(batch);
    for (std::size_t f = 0; f < log_factors_.size(); ++f) slope.gradient[f] += gradient_of(f);
  }
  return slope;
}

std::vector<std::uint16_t> FeatureWeightLearning::learn() {
  prepare();
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::size_t batch = 0; batch < kBatches; ++batch) {
      update_factors();
      compute_gradients(batch);
      ascend(kRate * (1.0 - double(round) / kRounds));
    }
  }
  return feature_weights();
}

void learn_feature_weights(Neighbours& neighbours, int threads) {
  if (!neighbours.learns()) return;
  FeatureWeightLearning learning(neighbours, threads);
  neighbours.set_feature_weights(learning.initial_weights(), threads);
  learning.find_candidates(neighbours);
  neighbours.set_feature_weights(learning.learn(), threads);
}

}  // namespace slide
