// Losses of the output layer over an active set. Thread-safe: no state but the arguments.
//
// z is [count x lanes], unit-major: logits with the active set's corrections on entry, on return the gradient
// d(loss * scale)/dz, zero in spare lanes.
#pragma once

#include <cstddef>

#include "engine/config/config.h"
#include "engine/network/active_set.h"

namespace slide {

// The targets of a block: which of the `count` active neurons are labels of which sample.
struct BlockTargets {
  const ActiveSet* set;  // label_positions and label_offsets
  std::size_t count;     // active neurons
  std::size_t samples;
  std::size_t lanes;
};

// Softmax cross-entropy over the active set with target 1/|labels| on each label of a sample; samples without
// labels contribute nothing. Returns the loss summed over samples.
double softmax_loss(const BlockTargets& targets, float scale, float* z, float* log_norm);

// One-vs-all logistic loss: every active neuron is a negative of weight 1 unless it is a label, which weighs
// positive_weight. A negative that stands for n neurons has log(n) in its logit: one of small probability p
// has the gradient n * p, as n such neurons would, but never more than 1, that of a single one. Returns the
// loss summed over samples and neurons.
double logistic_loss(const BlockTargets& targets, double positive_weight, float scale, float* z);

}  // namespace slide
