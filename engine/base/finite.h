// Tells which floats are no finite numbers, in memory and where they are taken off bytes. Functions serve one
// thread, on different readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/byte_io.h"

namespace slide {

bool all_finite(std::span<const float> values);

// Fills `values` from `in`; the place of the first that is infinite or no number, values.size() without one.
std::size_t get_finite(ByteReader& in, std::span<float> values);
// The same for words of two bfloat16 values each: the place of the first word with such a value.
std::size_t get_finite_pairs(ByteReader& in, std::span<std::uint32_t> words);

}  // namespace slide
