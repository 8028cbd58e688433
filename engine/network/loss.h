// Losses of the output layer over the active set of a block. Pure functions: threads may compute different
// tiles of one block at the same time. Nothing is allocated.
//
// z [count x lanes], unit-major. On entry: logits, with logQ corrections. On return: d(loss * scale)/dz; 0 in
// spare lanes. A logit of kMaskedLogit gets loss 0 and gradient 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/config/config.h"
#include "engine/network/active_set.h"
#include "engine/network/loss_kind.h"
#include "engine/network/slice.h"

namespace slide {

// log(1 + exp(x)), without overflow.
double softplus(double x);

// The targets of a block: which of the `count` active neurons are labels of which sample. A view.
struct BlockTargets {
  const ActiveSet* set;  // label_positions and label_offsets
  std::size_t count;     // active neurons
  std::size_t samples;
  std::size_t lanes;
  // All labels of each sample; empty where `set` has them all (one part of the layer) and label weights
  // are 1.
  std::span<const std::span<const std::uint32_t>> labels = {};
  // Label weights, by label; empty: all are 1. Active neuron a is label first + ids[a], or first + a when
  // `ids` is nullptr.
  std::span<const float> weights = {};
  // Logit margins, by label; empty: all are 0.
  std::span<const float> margins = {};
  std::size_t first = 0;
  const std::uint32_t* ids = nullptr;

  // Number of labels of a sample, including labels of other parts of the layer.
  std::size_t count_labels(std::size_t sample) const {
    return labels.empty() ? set->labels_of(sample).size() : labels[sample].size();
  }
  // Weight of the label that is active neuron `a`.
  double weight_of_label(std::size_t a) const { return weights.empty() ? 1.0 : double(weights[label_of(a)]); }
  // Margin of the label that is active neuron `a`.
  float margin_of_label(std::size_t a) const { return margins.empty() ? 0.0f : margins[label_of(a)]; }
  // Mean weight of the labels of a sample; 1 without labels.
  double weight_of_sample(std::size_t sample) const;

 private:
  std::size_t label_of(std::size_t a) const { return first + (ids != nullptr ? ids[a] : a); }
};

// Softmax cross-entropy over the active set, of a range of lanes: sum over the labels l of a sample of
// -weight(l) log p(l) / |labels|. Samples without labels have loss 0 and gradient 0. Writes the loss of each
// sample to losses[sample]. log_norm [lanes]: working memory.
void softmax_loss(const BlockTargets& targets, Slice samples, float scale, float* z, float* log_norm,
                  double* losses);
// The same in two calls, for a layer in parts. softmax_part() writes log_norm[sample] = log of the sum of
// exp(z) over one part. softmax_join() takes total[sample] = the same over all parts, and overwrites
// log_norm. The loss of a sample with labels is the sum of losses[sample] over all parts plus
// weight_of_sample() * total[sample].
void softmax_part(const BlockTargets& targets, Slice samples, float scale, float* z, float* log_norm,
                  double* losses);
void softmax_join(const BlockTargets& targets, Slice samples, float scale, const float* total, float* z,
                  float* log_norm);

// Offsets into z of the labels of a block's samples, for each slice of kSliceNeurons active neurons: label
// `a` (counted from the first neuron of the slice) of sample s has offset a * lanes + s. build() is for one
// thread; slice() is const.
class TargetPlaces {
 public:
  // Allocates memory for `neurons` active neurons and `entries` (sample, label) pairs.
  void reserve(std::size_t neurons, std::size_t entries);
  static std::size_t bytes_of(std::size_t neurons, std::size_t entries) {
    return (slices_of(neurons, kSliceNeurons) + 1 + entries) * sizeof(std::uint32_t);
  }
  void build(const BlockTargets& targets);
  // Offsets of the masked neurons (ActiveSet::masked_of) instead of the labels.
  void build_masked(const BlockTargets& targets);
  // Offsets of slice i, in order of samples; the offsets of one sample are unordered.
  std::span<const std::uint32_t> slice(std::size_t i) const {
    return {places_.data() + ends_[i], ends_[i + 1] - ends_[i]};
  }

 private:
  template <class OfSample>
  void build(const BlockTargets& targets, const OfSample& of_sample);

  std::vector<std::uint32_t> ends_;  // [slices + 1]: slice i is places_[ends_[i], ends_[i + 1])
  std::vector<std::uint32_t> places_;
};

// A loss that is a sum over neurons (not is_normalised()), chosen by config.kind. Of one slice of active
// neurons, with the offsets of its labels in `places`. Returns the loss, summed over samples and neurons.
double local_loss(const LossConfig& config, const BlockTargets& targets, Slice neurons,
                  std::span<const std::uint32_t> places, float scale, float* z);

// local_loss() by the logistic loss (one-vs-all, LossKind::kSigmoid): w softplus(-z) for a label, w =
// positive_weight * weight_of_label(), and softplus(z) for each other active neuron. A label's logit is first
// lowered by margin_of_label(). The logQ correction of a negative that stands for n neurons adds log(n) to
// its logit: its gradient is about n * p where the probability p is small, as of n neurons, and at most 1, as
// of one.
double logistic_loss(const BlockTargets& targets, Slice neurons, std::span<const std::uint32_t> places,
                     double positive_weight, float scale, float* z);

// Smoothed log-odds ln((with + 1) / (without + 1)) of a label that `with` of `samples` samples have.
double log_odds(std::uint32_t with, std::size_t samples);

// The logit of a masked (sample, neuron) pair: probability 0, no label. Its loss and gradient are 0.
inline constexpr float kMaskedLogit = -1e30f;
// Writes kMaskedLogit to the offsets `places` (TargetPlaces) of a slice of z.
void mask_logits(std::size_t lanes, Slice neurons, std::span<const std::uint32_t> places, float* z);

// Multiplies the gradients of a range of neurons and samples by the sample weights; an empty `weights`: all
// are 1. Spare lanes keep their 0; losses stay unweighted.
void weigh(const BlockTargets& targets, Slice neurons, Slice samples, std::span<const float> weights,
           float* z);

}  // namespace slide
