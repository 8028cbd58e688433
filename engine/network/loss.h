// Losses of the output layer over an active set. The functions have no state but their arguments: different
// slices of a block may be had at once.
//
// z is [count x lanes], unit-major: logits with the active set's corrections on entry, on return the gradient
// d(loss * scale)/dz, zero in spare lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/config/config.h"
#include "engine/network/active_set.h"
#include "engine/network/slice.h"

namespace slide {

// The targets of a block: which of the `count` active neurons are labels of which sample.
struct BlockTargets {
  const ActiveSet* set;  // label_positions and label_offsets
  std::size_t count;     // active neurons
  std::size_t samples;
  std::size_t lanes;
  // Of each sample, where `set` has only those of a part of the layer, or labels have weights; else empty.
  std::span<const std::span<const std::uint32_t>> labels = {};
  // By label; empty: all are 1. Active neuron a is label `first` + a, or where `ids` is not nullptr + ids[a].
  std::span<const float> weights = {};
  std::size_t first = 0;
  const std::uint32_t* ids = nullptr;

  // Labels of a sample in all.
  std::size_t labels_of(std::size_t sample) const {
    return labels.empty() ? set->labels_of(sample).size() : labels[sample].size();
  }
  // What the label that is active neuron `a` counts, and all of a sample in the mean.
  double weight_of_label(std::size_t a) const {
    return weights.empty() ? 1.0 : double(weights[first + (ids != nullptr ? ids[a] : a)]);
  }
  double weight_of_sample(std::size_t sample) const;
};

// Softmax cross-entropy of some samples, or spare lanes, over the active set with target 1/|labels| on each
// label of a sample; samples without labels contribute nothing. It is the mean over a sample's labels of the
// loss of each, times its weight. Leaves the loss of each sample in losses[sample].
// log_norm: working memory for all lanes.
void softmax_loss(const BlockTargets& targets, Slice samples, float scale, float* z, float* log_norm,
                  double* losses);
// The same in two calls, of a part of a layer. The first leaves in log_norm[sample] the logarithm of the sum
// of exp(z) over the part; the second gets the same of all parts in `total` and overwrites log_norm. The
// losses of all parts are to be added up, of samples with labels also with weight_of_sample() *
// total[sample].
void softmax_part(const BlockTargets& targets, Slice samples, float scale, float* z, float* log_norm,
                  double* losses);
void softmax_join(const BlockTargets& targets, Slice samples, float scale, const float* total, float* z,
                  float* log_norm);

// Where the labels of a block's samples lie in z, by slice of kSliceNeurons active neurons, from its
// beginning on. For one thread.
class TargetPlaces {
 public:
  // Room for `neurons` active neurons and `entries` labels of a block's samples.
  void reserve(std::size_t neurons, std::size_t entries);
  static std::size_t bytes_of(std::size_t neurons, std::size_t entries) {
    return (slices_of(neurons, kSliceNeurons) + 1 + entries) * sizeof(std::uint32_t);
  }
  void build(const BlockTargets& targets);
  // The same of the neurons that are left out of each sample.
  void build_left_out(const BlockTargets& targets);
  // Of one sample after the other.
  std::span<const std::uint32_t> slice(std::size_t i) const {
    return {places_.data() + ends_[i], ends_[i + 1] - ends_[i]};
  }

 private:
  template <class OfSample>
  void build(const BlockTargets& targets, const OfSample& of_sample);

  std::vector<std::uint32_t> ends_;  // of slice i - 1
  std::vector<std::uint32_t> places_;
};

// One-vs-all logistic loss of the active neurons of one slice, of whose labels `places` tells: every active
// neuron is a negative of weight 1 unless it is a label, which weighs positive_weight times its own weight. A
// negative that stands for n neurons has log(n) in its logit: one of small probability p has the gradient n *
// p, as n such neurons would, but never more than 1, that of a single one. Returns the loss summed over
// samples and neurons.
double logistic_loss(const BlockTargets& targets, Slice neurons, std::span<const std::uint32_t> places,
                     double positive_weight, float scale, float* z);

// Smoothed log-odds ln((with + 1) / (without + 1)) of a label of `with` of `samples` samples.
double log_odds(std::uint32_t with, std::size_t samples);

// A logit whose neuron neither the loss nor a gradient feels.
inline constexpr float kLeftOut = -1e30f;
// Puts it at these places of a slice; softmax and the logistic loss of a negative make 0 of it.
void leave_out(std::size_t lanes, Slice neurons, std::span<const std::uint32_t> places, float* z);

// Multiplies the gradients of some neurons and samples, of which `samples` are in use, with the weights of
// the samples; none: all are 1. Losses stay as they are.
void weigh(const BlockTargets& targets, Slice neurons, Slice samples, std::span<const float> weights,
           float* z);

}  // namespace slide
