// The matrices of a network in a model file: weights, biases and the optimizer's state (model_file.h).
// Functions may be called from any thread, on different networks.
#pragma once

#include "engine/base/byte_io.h"
#include "engine/network/network.h"

namespace slide {

// What a reader does about the optimizer's state.
struct OptimizerState {
  bool stored = false;  // the file holds it
  bool wanted = false;  // the network has room for it
};

void put_matrices(ByteWriter& out, const Network& network, bool with_state);

// Fills the matrices of `network`. Throws InputError when theirs are other sizes.
void get_matrices(ByteReader& in, Network& network, const OptimizerState& state);

}  // namespace slide
