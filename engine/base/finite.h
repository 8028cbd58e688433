// Detection of infinite and NaN floats, in memory and while reading. Functions are safe from several threads
// with different readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/byte_io.h"

namespace slide {

bool all_finite(std::span<const float> values);

// Reads `values` from `in`; returns the index of the first infinite or NaN value, or values.size().
std::size_t get_finite(ByteReader& in, std::span<float> values);
// For words of two bfloat16 values each; returns the index of the first word with a value that is not finite.
std::size_t get_finite_pairs(ByteReader& in, std::span<std::uint32_t> words);

}  // namespace slide
