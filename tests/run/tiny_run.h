// A tiny configuration and data set, for the tests of model files and checkpoints.
#pragma once

#include <fmt/format.h>

#include <string>

#include "datasets/reader.h"

namespace slide::test {

// Softmax with exact gradients over a sampled layer; hash tables that are rehashed and rebuilt; no kNN.
inline constexpr const char* kTinyConfig = R"(
[train]
epochs = 2
batch_size = 16
block_size = 16
threads = 1
[optimizer]
learning_rate = 0.05
[loss]
kind = "softmax"
gradient_threshold = 0
[neighbours]
share = 0
[[layer]]
size = 5
[[layer]]
kind = "sampled"
lsh = 4
uniform = 2
logq_correction = true
wide = false
wide_features = 128
wide_negatives = 0
wide_rate = 0.1
wide_scale = 1
wide_fit = 0
[layer.hash]
k = 3
tables = 4
range_pow = 3
rehash_steps = 2
rebuild_steps = 3
)";

// 40 samples; sample i has label i mod 9 and features near it.
inline Dataset tiny_data(double value = 0.25) {
  std::string text = "40 12 9\n";
  for (int i = 0; i < 40; ++i) {
    const int label = i % 9;
    text += fmt::format("{} {}:1 {}:0.5 11:{}\n", label, label, label + 1, value * (1 + i % 3));
  }
  return parse_dataset(text, "tiny");
}

}  // namespace slide::test
