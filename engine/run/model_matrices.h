// The matrices of a network in a model file: weights, biases and the optimizer's state (model_file.h).
// Functions may be called from any thread, on different networks.
#pragma once

#include "engine/base/byte_io.h"
#include "engine/network/network.h"
#include "engine/network/optimizer_state.h"
#include "engine/run/model.h"

namespace slide {

// What a reader does about the optimizer's state.
enum class StoredState { kNone, kSkip, kRead };

// `state`: nullptr, or the optimizer's, which goes into the file with the matrices; not with the
// small forms, which hold what is nearest to the weights.
void put_matrices(ByteWriter& out, const Network& network, const OptimizerState* state, ModelForm form);

// Fills the matrices of `network`, and of `state` those of kRead. Throws InputError when theirs are other
// sizes or numbers that are not finite. Returns the bytes of the optimizer's state. The network of a small
// form has bfloat16 weights; those of kInt8 are held in bytes from then on.
std::uint64_t get_matrices(ByteReader& in, StoredState stored, ModelForm form, Network& network,
                           OptimizerState& state);

}  // namespace slide
