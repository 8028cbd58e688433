// Ranking measures of a network whose parts several processes hold: each finds the best among its own
// neurons, and the best of all are those of all of them. Hidden activations are summed over the parts as in
// training.
#pragma once

#include <span>

#include "engine/cluster/cluster.h"
#include "engine/inference/inference.h"

namespace slide {

// Throws InputError where neighbours vote under softmax, which takes the sum over all neurons.
void require_shared_evaluation(const Config& config);

// As evaluate(), where that is so; all processes of `cluster` call it together and get the same.
Metrics evaluate_shared(Cluster& cluster, const TrainedNetwork& trained, const Dataset& data,
                        const InferenceOptions& options, std::span<const std::uint32_t> ks,
                        Metrics::Propensities inverse_propensities, Metrics::Groups groups);

}  // namespace slide
