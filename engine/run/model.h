// A trained network with what is needed to use it, as it comes from a model file and goes into one. Plain
// values; safe to use from several threads as long as none changes them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/text_model.h"
#include "engine/config/config.h"
#include "engine/inference/inference.h"
#include "engine/network/network.h"
#include "engine/network/optimizer_state.h"

namespace slide {

// The hash functions of one layer.
struct LayerHash {
  std::uint64_t seed = 0;
  std::uint64_t generation = 0;  // 0: no tables
};

// How the file holds weights and samples, and memory does: weights of all layers, wide weights and the values
// of neighbours, but for dense ones, which are bfloat16 in memory. Training that goes on from a small form is
// one with bfloat16 weights, and wide ones in floats.
enum class ModelForm {
  kPlain,  // as they are in memory
  kBf16,   // values of 16 bits, ids packed
  kInt8    // values of 8 bits, a step for each row, ids packed
};

// Bytes of what a file holds; 0 for what it does not.
struct ModelBytes {
  std::uint64_t weights = 0;  // of the layers, with biases
  std::uint64_t wide = 0;
  std::uint64_t optimizer = 0;
  std::uint64_t neighbours = 0;
  std::uint64_t text = 0;  // vocabulary and names
  std::uint64_t file = 0;  // all, with what is not named here
};

struct Model {
  Config config;    // of the run; sizes that came from the data are still 0
  DataShape shape;  // of the training data
  std::uint64_t steps = 0;
  bool has_optimizer_state = false;  // whether the file holds it
  std::vector<LayerHash> hashes;     // of network.layers()
  Network network;
  std::optional<OptimizerState> optimizer;  // if it was asked for, and the file holds it
  std::optional<Neighbours> neighbours;     // training samples that vote at inference
  std::shared_ptr<const TextModel> text;    // of a model trained on text, else nullptr
  // By label, how many trainings in a row that went on from the model brought no sample of it; empty: none
  // has ever gone on.
  std::vector<std::uint32_t> idle;
  std::uint32_t checksum = 0;  // of the file: tells one model from another
  std::uint32_t version = 0;   // of the file's format
  ModelForm form = ModelForm::kPlain;
  ModelBytes bytes;
  std::vector<std::string> notes;  // what a user should know about its configuration, a sentence each
  // Of interactions: predictions answer what a sample has already, too.
  bool keep_known = false;

  TrainedNetwork trained() const { return {network, neighbours ? &*neighbours : nullptr}; }
  // Builds the hash tables of the layers that had them. A second call does nothing.
  void build_tables(int threads);
  // The same where LSH inference asks them.
  void build_asked_tables(int threads);
};

// What goes into a model file.
struct ModelParts {
  const Config& config;  // of the run
  const DataShape& shape;
  TrainedNetwork trained;
  const OptimizerState* optimizer;  // or nullptr
  std::uint64_t steps;
  const TextModel* text = nullptr;  // of a model trained on text
  std::span<const std::uint32_t> idle = {};
  ModelForm form = ModelForm::kPlain;
  const std::vector<LayerHash>* hashes = nullptr;  // nullptr: those of the network's tables
};

}  // namespace slide
