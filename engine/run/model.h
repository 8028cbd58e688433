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
  std::uint32_t checksum = 0;      // of the file: tells one model from another
  std::vector<std::string> notes;  // what a user should know about its configuration, a sentence each

  TrainedNetwork trained() const { return {network, neighbours ? &*neighbours : nullptr}; }
  // Builds the hash tables of the layers that had them, which LSH inference needs. A second call does
  // nothing.
  void build_tables(int threads);
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
};

}  // namespace slide
