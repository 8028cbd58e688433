// The matrices section of a model file: weights, biases and optimizer state (model_file.h). Functions are
// safe from any thread, for different networks.
#pragma once

#include "engine/base/byte_io.h"
#include "engine/model/model.h"
#include "engine/network/network.h"
#include "engine/network/optimizer_state.h"

namespace slide {

// Handling of the optimizer's state by a reader.
enum class StoredState { kNone, kSkip, kRead };

// `state`: optimizer state to write with the matrices, or nullptr; always nullptr for quantized forms.
void put_matrices(ByteWriter& out, const Network& network, const OptimizerState* state, ModelForm form);

// Reads the matrices of `network`, and with kRead of `state`; returns the bytes of the optimizer's state. The
// network of a quantized form has bfloat16 weights; kInt8 converts them to int8. Throws InputError for other
// sizes or numbers that are not finite.
std::uint64_t get_matrices(ByteReader& in, StoredState stored, ModelForm form, Network& network,
                           OptimizerState& state);

}  // namespace slide
