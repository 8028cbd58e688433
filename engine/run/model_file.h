// The model file: a trained network with what is needed to use it, in one file.
// FORMAT.md describes every byte.
//
// Nothing depends on the instruction set that wrote or reads it. Hash tables are not stored: they are a
// function of the weights, the seed and the generation. Versions 1, without text, 2, without factors, and 3,
// without neighbours, are read too; 5 is a small form, 6 has dense features, all others are written as 4.
// Functions may be called from any thread, on different files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/cluster/cluster.h"
#include "engine/run/model.h"
#include "engine/run/model_input.h"

namespace slide {

// Whether load_model() reads the optimizer's state, where the file holds it.
enum class LoadOptimizer { kNo, kYes };

// Writes the network, with the optimizer's state if `config.train.save_optimizer`. The file gets its name
// only when it is whole; a file of that name stays as it was until then. Throws Error when the folder cannot
// be written or the disk is full. Where processes of a cluster hold parts of the network, all call it
// together and write the one file.
void save_model(const std::string& path, const ModelParts& model, Cluster* cluster = nullptr);

// `name`: the file, or the folder of a run. Throws InputError, in one line, when the file is missing, no
// model, of another version, cut off, too long, damaged, changed meanwhile, or holds weights that are no
// finite numbers. Tables are not built. Of the processes of a cluster, each gets its share of the neurons and
// of a first layer's features, without the optimizer's state.
Model load_model(const std::string& name, LoadOptimizer optimizer = LoadOptimizer::kNo,
                 const Cluster* cluster = nullptr);

// Its configuration alone; what stands behind it is not looked at. Throws InputError as load_model().
Config load_model_config(const std::string& name);

// Throws InputError as load_model() does where the file is missing, no model or damaged, and takes no memory.
// Of what is in it nothing is looked at but the checksum.
void check_model_file(const std::string& name);

}  // namespace slide
