// Sections of a quantized model file (model_file.h): sparse rows with compressed ids (packed_lists.h) and
// 16-bit or 8-bit values (int8_rows.h). Functions are safe from any thread, for different models. Readers
// throw InputError for invalid bytes.
#pragma once

#include <memory>

#include "engine/base/byte_io.h"
#include "engine/knn/neighbours.h"
#include "engine/model/model.h"
#include "engine/network/network.h"
#include "engine/wide/linear_term.h"

namespace slide {

// Writes the linear term without weights that are 0 or round to 0. `form`: kBf16 or kInt8. Throws InputError
// where the features of a neuron do not ascend.
void put_packed_wide(ByteWriter& out, const LinearTerm& wide, ModelForm form);
// Reads the linear term of the output layer of `network`. Weights and values stay quantized in memory, except
// for dense samples.
std::unique_ptr<LinearTerm> get_packed_wide(ByteReader& in, const Network& network, ModelForm form);

void put_packed_neighbours(ByteWriter& out, const Neighbours& neighbours, ModelForm form);
Neighbours get_packed_neighbours(ByteReader& in, const NeighbourConfig& config, const DataShape& shape,
                                 ModelForm form);

}  // namespace slide
