// The parts of a model file that not every model has: feature crosses, wide path, factors of
// features, neighbours (model_file.h). Functions may be called from any thread, on different models. Reading
// throws InputError when a part is larger than what is left, or cannot be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/base/byte_io.h"
#include "engine/features/feature_crosses.h"
#include "engine/features/feature_scale.h"
#include "engine/features/neighbours.h"
#include "engine/network/network.h"
#include "engine/run/model_matrices.h"
#include "engine/wide/wide_path.h"

namespace slide {

// `state`: nullptr, or the optimizer's, whose part goes into the file.
void put_wide(ByteWriter& out, const WidePath& wide, const OptimizerState* state);
// Of the output layer of `network`; of kRead with the optimizer's part, into `state`.
std::unique_ptr<WidePath> get_wide(ByteReader& in, const Network& network, StoredState stored,
                                   OptimizerState& state);

// Nothing where there are none.
void put_pairs(ByteWriter& out, const FeatureCrosses& pairs);
// Of a model with so many features of samples.
FeatureCrosses get_pairs(ByteReader& in, std::size_t features);

void put_factors(ByteWriter& out, const FeatureScale& scale);
FeatureScale get_factors(ByteReader& in, const DataConfig& config, std::size_t features);

// Whether a bfloat16 value may be one of a neighbour's.
bool is_neighbour_value(std::uint16_t bf16);
void put_neighbours(ByteWriter& out, const Neighbours& neighbours);
Neighbours get_neighbours(ByteReader& in, const NeighbourConfig& config, const DataShape& shape);
// What features weigh for them, where that was learnt.
std::vector<std::uint16_t> get_feature_weights(ByteReader& in, const DataShape& shape);

// What neighbours are known by where all features of a model are dense columns, else nothing: `samples` rows
// of bfloat16.
void put_dense_rows(ByteWriter& out, const DenseSamples& rows);
DenseSamples get_dense_rows(ByteReader& in, std::size_t samples, const DataShape& shape);
// Whether a row of that length may be one of them.
bool are_dense_values(std::span<const float> row);

}  // namespace slide
