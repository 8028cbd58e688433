// Larger copies of a network and its optimizer state, to continue training with new features, labels and
// samples (warm start). Pure functions, safe from any thread; other threads may use the original meanwhile.
#pragma once

#include "datasets/rows/dataset.h"
#include "engine/knn/training_rows.h"
#include "engine/network/network.h"
#include "engine/network/optimizer_state.h"
#include "engine/statistics/growth.h"

namespace slide {

// The shape and data of a larger network.
struct GrownShape {
  const DataShape& shape;    // label frequencies: of all samples so far, new ones included
  const Growth& growth;      // old ids of features and labels, by new id; without feature crosses
  const TrainingRows& more;  // new samples by new ids, with the feature crosses of the old network
};

// Returns a copy of `from` with the parameters, idf factors and linear term of its features and labels, and
// initial values for new ones as start_network() computes them from the new samples. It has no hash tables.
// `config`: with layers of the same kinds and hidden sizes as the network's. `state`: optimizer state of
// `from` on entry, of the copy on return; or nullptr. All parts must be in this process.
Network grown(const Network& from, const Config& config, const GrownShape& to, int threads,
              OptimizerState* state);

OptimizerState copy_of(const OptimizerState& state);

}  // namespace slide
