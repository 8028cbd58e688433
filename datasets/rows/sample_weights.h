// Sample weights in training. Safe from any thread; all pure except functions with a path.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/rows/dataset.h"

namespace slide {

// The samples of `data` with weights, one per sample, divided by their mean; samples of weight 0 are dropped.
// Throws InputError for weights that are negative or not finite, and where all are 0.
Dataset weighted_rows(const Dataset& data, std::span<const float> weights);

// The weight in `text`: a finite number >= 0; nullopt otherwise.
std::optional<float> weight_in(std::string_view text);

// Reads weights from a file, plain or compressed: one number per line, finite and >= 0, for each of `count`
// samples of `data`, named in messages. Throws InputError with file and line for malformed files.
std::vector<float> read_weights(const std::string& path, std::size_t count, const std::string& data);
// The same for the text of such a file; `things`: word for samples or labels in messages.
std::vector<float> parse_weights(std::string_view text, const std::string& path, std::size_t count,
                                 const std::string& data, std::string_view things);

// The samples of `data` with unscaled weights, one per sample. Throws Error for another number.
Dataset with_weights(const Dataset& data, std::vector<float> weights);

}  // namespace slide
