// Copies of a network and of what its optimizer remembers, for training that goes on from them while others
// use the network as it was. Pure functions, safe from any thread.
#pragma once

#include "engine/network/network.h"
#include "engine/network/optimizer_state.h"

namespace slide {

// The same parameters, factors and wide path, without tables; `shape` has its features and labels, and the
// frequencies that labels are drawn by. The network must be whole: no process shares it.
Network copy_of(const Network& network, const DataShape& shape);

OptimizerState copy_of(const OptimizerState& state);

}  // namespace slide
