// Weights of samples in training. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"

namespace slide {

// The samples of `data` with these weights, one for each, divided by their mean; samples of weight 0 are left
// out. Throws InputError for weights that are negative or not finite, and where all are 0.
Dataset weighted_rows(const Dataset& data, std::span<const float> weights);

// The weight that all of `text` says: a finite number from 0 on, or nothing.
std::optional<float> weight_in(std::string_view text);

// Those of a file, plain or packed: one number a line, finite and not negative, for each of `count` samples
// of `data`, which names them in messages. Throws InputError with the file and line where that is not so.
std::vector<float> read_weights(const std::string& path, std::size_t count, const std::string& data);
// The same of the text of such a file, for what messages call `things`.
std::vector<float> parse_weights(std::string_view text, const std::string& path, std::size_t count,
                                 const std::string& data, std::string_view things);

// The samples of `data` with these weights as they are, one for each. Throws Error where there are not as
// many.
Dataset with_weights(const Dataset& data, std::vector<float> weights);

}  // namespace slide
