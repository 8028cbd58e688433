// The sections of a small model file (model_file.h): sparse rows whose ids are packed lists (packed_lists.h)
// and whose values have 16 or 8 bits (int8_rows.h). Functions may be called from any thread, on different
// models. Those that read throw InputError where the bytes cannot be such a section.
#pragma once

#include <memory>

#include "engine/base/byte_io.h"
#include "engine/features/neighbours.h"
#include "engine/network/network.h"
#include "engine/run/model.h"
#include "engine/wide/wide_path.h"

namespace slide {

// `form`: kBf16 or kInt8. Weights that are 0, or become it, are left out. Throws InputError when the features
// of a neuron do not ascend.
void put_packed_wide(ByteWriter& out, const WidePath& wide, ModelForm form);
// Of the output layer of `network`; weights and values are held as they are in the file, but for those of
// dense samples.
std::unique_ptr<WidePath> get_packed_wide(ByteReader& in, const Network& network, ModelForm form);

void put_packed_neighbours(ByteWriter& out, const Neighbours& neighbours, ModelForm form);
Neighbours get_packed_neighbours(ByteReader& in, const NeighbourConfig& config, const DataShape& shape,
                                 ModelForm form);

}  // namespace slide
