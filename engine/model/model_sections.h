// Optional sections of a model file: feature crosses, linear term, feature factors, kNN index (model_file.h).
// Functions are safe from any thread, for different models. Readers throw InputError where a section is
// larger than the rest of the file, or invalid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/base/byte_io.h"
#include "engine/crosses/feature_crosses.h"
#include "engine/inference/thresholds.h"
#include "engine/knn/neighbours.h"
#include "engine/model/model_matrices.h"
#include "engine/network/network.h"
#include "engine/statistics/feature_scale.h"
#include "engine/wide/wide_path.h"

namespace slide {

// `state`: optimizer state, whose part is written too, or nullptr.
void put_wide(ByteWriter& out, const WidePath& wide, const OptimizerState* state);
// Reads the linear term of the output layer of `network`; with kRead also the optimizer's part, into `state`.
std::unique_ptr<WidePath> get_wide(ByteReader& in, const Network& network, StoredState stored,
                                   OptimizerState& state);

// Writes nothing where there are none.
void put_pairs(ByteWriter& out, const FeatureCrosses& pairs);
// `features`: number of the samples' features.
FeatureCrosses get_pairs(ByteReader& in, std::size_t features);

void put_factors(ByteWriter& out, const FeatureScale& scale);
FeatureScale get_factors(ByteReader& in, const DataConfig& config, std::size_t features);

// Whether a bfloat16 value is valid for a kNN row.
bool is_neighbour_value(std::uint16_t bf16);
void put_neighbours(ByteWriter& out, const Neighbours& neighbours);
Neighbours get_neighbours(ByteReader& in, const NeighbourConfig& config, const DataShape& shape);
// Learnt feature weights of the kNN prediction.
std::vector<std::uint16_t> get_feature_weights(ByteReader& in, const DataShape& shape);

// Rows of the kNN index for models with dense features only: `samples` rows of bfloat16; else nothing.
void put_dense_rows(ByteWriter& out, const DenseSamples& rows);
DenseSamples get_dense_rows(ByteReader& in, std::size_t samples, const DataShape& shape);
// Whether all |values| are below 2, as in a row of unit length up to rounding.
bool are_dense_values(std::span<const float> row);

// Thresholds of labels, and of all others.
void put_thresholds(ByteWriter& out, const Thresholds& thresholds);
Thresholds get_thresholds(ByteReader& in, std::uint64_t labels);

}  // namespace slide
