// Compression of a trained model without training: quantization, pruning, removal of the optimizer's state.
// Safe from any thread, for different outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/model/model.h"
#include "engine/run/calibrate.h"

namespace slide {

// Pruning of the linear term: drops weights of |weight| below `min_size`, or the given share of smallest
// |weight|, ties by position.
struct Pruning {
  double min_size = 0;
  double share = 0;  // in [0, 1)
};

// The optimizer's state is always dropped.
struct QuantizeOptions {
  std::string model;               // file, or run folder
  std::string out;                 // output file
  std::optional<ModelForm> form;   // none: the model's form
  std::optional<Pruning> pruning;  // none: keep all weights
  std::string test;                // data to evaluate both models on; empty: none
  int threads = 0;
  bool replace = true;  // a model that lies at `out`, else InputError
  // A number for all labels, or a file of thresholds (threshold_file.h), to store; empty: keeps the
  // thresholds of the model.
  std::string threshold = {};
  // Data that training has not seen, to fit a calibration to (calibrate.h); empty: the model's, if any. Its
  // thresholds are dropped, unless some are given.
  std::string calibrate = {};
};

struct Measures {
  std::uint32_t k;
  double precision, ndcg, psp, recall;
};

// Description of one of the two models.
struct ModelSide {
  ModelForm form;
  ModelBytes bytes;
  std::size_t wide_weights = 0;
  std::vector<Measures> measures;  // by eval.k of the model, where there are data
};

struct QuantizeResult {
  ModelSide before, after;
  std::optional<CalibrationResult> calibration;
  std::size_t samples = 0;         // number of evaluated samples
  std::vector<std::string> notes;  // Model::notes
};

// Writes the new model atomically. Throws InputError where the model or the data cannot be read, where no
// calibration fits, where `out` is a folder or the model itself, and for pruning without a linear term; Error
// where it cannot be written.
QuantizeResult quantize_model(const QuantizeOptions& options);

}  // namespace slide
