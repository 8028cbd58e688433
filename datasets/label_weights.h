// What labels count in training. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datasets/text_model.h"

namespace slide {

// Those of a file, plain or packed, for each of `labels` labels of `data`, which names them in messages. It
// has a number a line, finite and not negative, label 0 first; or, where its first line has a TAB and labels
// have names, those of `names`, lines of name, TAB and number: labels that no line names weigh 1. Throws
// InputError with the file and line where that is not so, and where all are 0.
std::vector<float> read_label_weights(const std::string& path, std::size_t labels, const TextModel* names,
                                      const std::string& data);

// The power of each label's frequency over the mean of that over all pairs of a sample and its label, of
// which label l has pairs[l]. A frequency of 0 counts as 1.
std::vector<float> power_weights(std::span<const std::uint32_t> frequencies,
                                 std::span<const std::uint32_t> pairs, double power);

}  // namespace slide
