// The model file: a trained network with what is needed to use it, in one file.
//
//   "SLIDEMDL", u32 version, u32 flags, u64 length of the file in bytes
//   u64 steps
//   u64 bytes, text                  the configuration as TOML
//   u64 features, labels, samples    of the training data, then u32 frequency of each label
//   u64 layers                       that are stored by neuron, then for each u64 seed of its hash functions
//                                    and u64 their generation (0: the layer has no tables)
//   for each matrix                  (weights, then biases, layer by layer from the input)
//     u64 rows, columns, then f32 weights [rows x columns]
//     flag kFlagOptimizer: u64 count, f32 first; u64 count, f32 second; u64 count, u32 steps of the rows
//   flag kFlagWide: the output layer's wide path: u64 count, u64 offsets [neurons + 1], u32 features [count],
//     f32 weights [count], with kFlagOptimizer f32 accumulators [count]
//   flag kFlagFactors: f32 factors [features] that values are multiplied by (feature_scale.h)
//   flag kFlagNeighbours: u64 samples, features, labels; u64 offsets [samples + 1] of their features, the
//     same of labels; u32 features, u32 labels, bfloat16 values of the features (neighbours.h)
//   flag kFlagText: u64 bytes, vocabulary, weights and label names as TextModel::to_bytes() gives them
//   the footer of summed_file.h
//
// Nothing depends on the instruction set that wrote or reads it. Hash tables are not stored: they are a
// function of the weights, the seed and the generation. Versions 1, without text, 2, without factors, and 3,
// without neighbours, are read too. Functions may be called from any thread, on different files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/run/model.h"

namespace slide {

inline constexpr std::string_view kModelMagic = "SLIDEMDL";
inline constexpr std::uint32_t kModelVersion = 4;

// Whether load_model() reads the optimizer's state, where the file holds it.
enum class LoadOptimizer { kNo, kYes };

// Writes the network, with the optimizer's state if `config.train.save_optimizer`. The file gets its name
// only when it is whole; a file of that name stays as it was until then. Throws Error when the folder cannot
// be written or the disk is full.
void save_model(const std::string& path, const ModelParts& model);

// Throws InputError, in one line, when the file is missing, no model, of another version, cut off, too long,
// damaged, changed meanwhile, or holds weights that are no finite numbers. Tables are not built.
Model load_model(const std::string& path, LoadOptimizer optimizer = LoadOptimizer::kNo);

// Whether the file starts like a model. False also when it cannot be read.
bool looks_like_model(const std::string& path);

}  // namespace slide
