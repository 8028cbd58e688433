// Fixture of the tests of model files and checkpoints: a tiny configuration and data set, and a folder of
// files that are removed at the end. Not thread-safe.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
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

class FolderTest : public testing::Test {
 protected:
  FolderTest() { std::filesystem::create_directories(folder_); }
  ~FolderTest() override {
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
    std::filesystem::remove_all(folder_);
  }
  std::string path(const char* name) const { return (folder_ / name).string(); }
  // Number of entries in the folder.
  std::ptrdiff_t entries() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator());
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / fmt::format("slide-run-test-{}", getpid());
};

}  // namespace slide::test
