// Larger copies of a network and of its optimizer state, to continue training with new samples while other
// threads use the network as it was. Pure functions, safe from any thread.
#pragma once

#include "datasets/dataset.h"
#include "engine/features/growth.h"
#include "engine/features/training_rows.h"
#include "engine/network/network.h"
#include "engine/network/optimizer_state.h"

namespace slide {

// What a network grows to.
struct GrownShape {
  const DataShape& shape;    // with the frequencies that labels are drawn by: of all samples so far
  const Growth& growth;      // of features without pairs
  const TrainingRows& more;  // new samples with the pairs there were, under today's numbers
};

// The same parameters, factors and wide path, without tables, and what is new as start_network() has it from
// the new samples. `config` may differ from the network's in what changes neither sizes nor meaning of the
// parameters. `state`, what the optimizer remembers of `from`, becomes that of the copy; nullptr where nobody
// knows. The network must be whole: no process shares it.
Network grown(const Network& from, const Config& config, const GrownShape& to, int threads,
              OptimizerState* state);

OptimizerState copy_of(const OptimizerState& state);

}  // namespace slide
