// A trained model as a smaller file, without training. Safe to call from any thread, for different outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/model.h"

namespace slide {

// Weights of the wide path that go: those smaller than `least` in size, or of all of them the smallest
// `share`, of equal ones the first.
struct Pruning {
  double least = 0;
  double share = 0;  // in [0, 1)
};

// The optimizer's state always goes.
struct QuantizeOptions {
  std::string model;               // the file, or the folder of a run
  std::string out;                 // the file to write
  std::optional<ModelForm> form;   // none: that of the model
  std::optional<Pruning> pruning;  // none: all weights stay
  std::string test;                // data to measure both on; empty: none
  int threads = 0;
};

struct Measures {
  std::uint32_t k;
  double precision, ndcg, psp, recall;
};

// What one of the two files is.
struct ModelSide {
  ModelForm form;
  ModelBytes bytes;
  std::size_t wide_weights = 0;
  std::vector<Measures> measures;  // by eval.k of the model, where there are data
};

struct QuantizeResult {
  ModelSide before, after;
  std::size_t samples = 0;         // measured
  std::vector<std::string> notes;  // Model::notes
};

// The new file gets its name only when it is whole. Throws InputError when the model or the data cannot be
// read, when `out` is a folder or the model itself, and for pruning without a wide path; Error when it cannot
// be written.
QuantizeResult quantize_model(const QuantizeOptions& options);

}  // namespace slide
