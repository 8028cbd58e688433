// The model file: a trained model with everything needed to use it. FORMAT.md specifies every byte.
//
// The file does not depend on the instruction set. Hash tables are not stored: they follow from weights, seed
// and generation. Reads all released versions of the format; writes the oldest one that has the model's
// sections (model_file.cpp). Functions are safe from any thread, for different files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/cluster/cluster.h"
#include "engine/model/model.h"
#include "engine/model/model_input.h"

namespace slide {

// Whether load_model() reads the optimizer's state where the file has it.
enum class LoadOptimizer { kNo, kYes };

// Writes a model atomically, with the optimizer's state if `config.train.save_optimizer`; an existing file
// stays until the new one is complete. Throws Error where the folder is not writable or the disk is full.
// Collective where processes of a cluster hold shards of the network: all write the one file.
void save_model(const std::string& path, const ModelParts& model, Cluster* cluster = nullptr);

// Loads a model; `name` is the file or the folder of a run. Does not build hash tables. Throws InputError
// (one line) where the file is missing, not a model, of another version, truncated, too long, damaged,
// changed meanwhile, or has weights that are not finite. In a cluster, each process gets its shard of neurons
// and of a first layer's features, without optimizer state.
Model load_model(const std::string& name, LoadOptimizer optimizer = LoadOptimizer::kNo,
                 const Cluster* cluster = nullptr);

// Loads only the configuration; ignores the rest of the file. Throws InputError as load_model().
Config load_model_config(const std::string& name);

// Throws InputError as load_model() where the file is missing, not a model or damaged; verifies only the
// checksum, in constant memory.
void check_model_file(const std::string& name);

}  // namespace slide
