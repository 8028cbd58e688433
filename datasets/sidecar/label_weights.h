// Label weights in training. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datasets/text/text_model.h"

namespace slide {

// Reads label weights, one per label, from a file, plain or compressed. Format: one number per line (finite,
// >= 0), label 0 first; or, where the first line has a tab and labels have names (`names`), lines "name TAB
// number", unnamed labels weigh 1. `data` names the data set in messages. Throws InputError with file and
// line for malformed lines, and where all weights are 0.
std::vector<float> read_label_weights(const std::string& path, std::size_t labels, const TextModel* names,
                                      const std::string& data);

// Weights frequency^power (frequency 0 counts as 1), normalised to mean 1 over all (sample, label) pairs;
// pairs[l] is the number of pairs of label l.
std::vector<float> power_weights(std::span<const std::uint32_t> frequencies,
                                 std::span<const std::uint32_t> pairs, double power);

}  // namespace slide
