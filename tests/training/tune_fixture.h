// A small start configuration for searches, and its data.
#pragma once

#include <string>
#include <vector>

#include "engine/training/tune.h"
#include "tests/network/network_test_util.h"

namespace slide::test {

inline Config small_config() {
  return parse_config(
      "[data]\ncrosses = 0\n[train]\nepochs = 1\nbatch_size = 32\nblock_size = "
      "16\n[optimizer]\nlearning_rate "
      "= 0.0001\n"
      "[loss]\nkind = \"softmax\"\ngradient_threshold = 0\n[neighbours]\nshare = 0\n[[layer]]\nsize = 8\n"
      "[[layer]]\ninit_scale = 1\nlsh = 0\nuniform = 12\nlogq_correction = true\nwide = false\n"
      "wide_features = 128\nwide_negatives = 0\nwide_rate = 0.1\nwide_scale = 1\nwide_fit = 0\n",
      "test");
}

inline Dataset small_data() {
  DataSpec spec;
  spec.samples = 300;
  spec.features = 60;
  spec.labels = 40;
  return make_data(spec);
}

inline std::string joined(const std::vector<std::string>& changes) {
  std::string text;
  for (const std::string& change : changes) text += (text.empty() ? "" : " ") + change;
  return text;
}

inline std::vector<Trial> trials_from(const Config& config, const TuneOptions& options) {
  std::vector<Trial> trials;
  tune(config, small_data(), options, [&](const Trial& trial) { trials.push_back(trial); });
  return trials;
}

}  // namespace slide::test
