// A trained model: the content of a model file in memory. Plain values; concurrent reads are safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/text/text_model.h"
#include "engine/config/config.h"
#include "engine/inference/inference.h"
#include "engine/inference/thresholds.h"
#include "engine/network/network.h"
#include "engine/network/optimizer_state.h"

namespace slide {

// Hash functions of one layer.
struct LayerHash {
  std::uint64_t seed = 0;
  std::uint64_t generation = 0;  // 0: no tables
};

// Storage form of weights (all layers and linear term) and of kNN values, in the file and in memory; only
// dense kNN rows are bfloat16 in memory in every form. Incremental training of a quantized model continues
// with bfloat16 weights and a float linear term.
enum class ModelForm {
  kPlain,  // full precision, as in memory
  kBf16,   // 16-bit values, compressed ids
  kInt8    // 8-bit values with one factor per row, compressed ids
};

// Bytes of the sections of a file; 0 where absent.
struct ModelBytes {
  std::uint64_t weights = 0;  // of the layers, with biases
  std::uint64_t wide = 0;
  std::uint64_t optimizer = 0;
  std::uint64_t neighbours = 0;
  std::uint64_t text = 0;  // vocabulary and names
  std::uint64_t file = 0;  // whole file, with other sections
};

struct Model {
  Config config;    // of the run; sizes determined by the data are still 0
  DataShape shape;  // of the training data
  std::uint64_t steps = 0;
  bool has_optimizer_state = false;  // in the file
  std::vector<LayerHash> hashes;     // of network.layers()
  Network network;
  std::optional<OptimizerState> optimizer = {};  // if requested and in the file
  std::optional<Neighbours> neighbours = {};     // kNN index over training samples
  std::shared_ptr<const TextModel> text = {};    // of a model trained on text, else nullptr
  // For each label, the number of consecutive incremental runs without a sample of it. Empty: never trained
  // incrementally.
  std::vector<std::uint32_t> unseen_runs = {};
  // By default a sample gets the labels whose scores reach these thresholds; nullopt: the best k labels.
  std::optional<Thresholds> thresholds = {};
  std::optional<Calibration> calibration = {};  // of probabilities
  std::uint32_t checksum = 0;                   // of the file; identifies the model
  std::uint32_t version = 0;                    // of the file format
  ModelForm form = ModelForm::kPlain;
  ModelBytes bytes = {};
  std::vector<std::string> notes = {};  // warnings about its configuration, one sentence each
  // For interactions: predictions include the sample's own items.
  bool keep_known = false;
  bool known_given = false;              // data.known is the user's choice, not the model's
  const char* known_option = "--known";  // by which users choose it, for messages
  std::string path = {};                 // of the file

  TrainedNetwork trained() const {
    TrainedNetwork trained(network, neighbours ? &*neighbours : nullptr, shape);
    trained.calibration = calibration;
    return trained;
  }
  // Builds the hash tables of the layers that had them; no effect on later calls.
  void build_tables(int threads);
  // The same, only where LSH inference uses training tables.
  void build_asked_tables(int threads);
};

// Input of save_model().
struct ModelParts {
  const Config& config;  // of the run
  const DataShape& shape;
  TrainedNetwork trained;
  const OptimizerState* optimizer;  // may be nullptr
  std::uint64_t steps;
  const TextModel* text = nullptr;  // of a model trained on text
  std::span<const std::uint32_t> unseen_runs = {};
  ModelForm form = ModelForm::kPlain;
  const std::vector<LayerHash>* hashes = nullptr;  // nullptr: the hashes of the network's tables
  const Thresholds* thresholds = nullptr;          // Model::thresholds
};

}  // namespace slide
