// The matrices of a network in a model file: weights, biases and the optimizer's state (model_file.h).
// Functions may be called from any thread, on different networks.
#pragma once

#include "engine/base/byte_io.h"
#include "engine/network/network.h"
#include "engine/network/optimizer_state.h"

namespace slide {

// What a reader does about the optimizer's state.
enum class StoredState { kNone, kSkip, kRead };

// `state`: nullptr, or the optimizer's, which goes into the file with the matrices.
void put_matrices(ByteWriter& out, const Network& network, const OptimizerState* state);

// Fills the matrices of `network`, and of `state` those of kRead. Throws InputError when theirs are other
// sizes or numbers that are not finite.
void get_matrices(ByteReader& in, StoredState stored, Network& network, OptimizerState& state);

}  // namespace slide
