// Optional sections of a model file (FORMAT.md): linear term, feature crosses, feature factors, kNN index,
// thresholds. put_X() writes section X, get_X() reads it. A reader throws InputError where the section is
// larger than the rest of the file, or invalid. Safe from any thread, for different models.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/base/byte_io.h"
#include "engine/crosses/feature_crosses.h"
#include "engine/inference/calibration.h"
#include "engine/inference/thresholds.h"
#include "engine/knn/neighbours.h"
#include "engine/model/model_matrices.h"
#include "engine/network/network.h"
#include "engine/statistics/feature_scale.h"
#include "engine/wide/linear_term.h"

namespace slide {

// The linear term; with `state` (may be nullptr) also its part of the optimizer state.
void put_wide(ByteWriter& out, const LinearTerm& wide, const OptimizerState* state);
// `network`: whose output layer the linear term belongs to. StoredState::kRead: also reads its part of the
// optimizer state, into `state`.
std::unique_ptr<LinearTerm> get_wide(ByteReader& in, const Network& network, StoredState stored,
                                     OptimizerState& state);

// Writes nothing without crosses, as the flags of the file then say.
void put_crosses(ByteWriter& out, const FeatureCrosses& crosses);
// `features`: number of features without crosses.
FeatureCrosses get_crosses(ByteReader& in, std::size_t features);

void put_factors(ByteWriter& out, const FeatureScale& scale);
FeatureScale get_factors(ByteReader& in, const DataConfig& config, std::size_t features);

// Whether a value of a kNN row, in bfloat16, is valid.
bool is_neighbour_value(std::uint16_t bf16);
void put_neighbours(ByteWriter& out, const Neighbours& neighbours);
Neighbours get_neighbours(ByteReader& in, const NeighbourConfig& config, const DataShape& shape);
// Learnt feature weights of the kNN prediction.
std::vector<std::uint16_t> get_feature_weights(ByteReader& in, const DataShape& shape);

// The dense columns of the kNN index [samples][dense] in bfloat16; nothing for models with sparse features.
void put_dense_rows(ByteWriter& out, const DenseSamples& rows);
DenseSamples get_dense_rows(ByteReader& in, std::size_t samples, const DataShape& shape);
// Whether a dense row is valid: all |values| are below 2, as rows have unit length up to rounding.
bool are_dense_values(std::span<const float> row);

// Thresholds of some labels, and one of all others.
void put_thresholds(ByteWriter& out, const Thresholds& thresholds);
Thresholds get_thresholds(ByteReader& in, std::uint64_t labels);

void put_calibration(ByteWriter& out, const Calibration& calibration);
Calibration get_calibration(ByteReader& in);

}  // namespace slide
