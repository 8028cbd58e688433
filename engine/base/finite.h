// Takes numbers off bytes and tells which are none. Functions serve one thread, on different readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/byte_io.h"

namespace slide {

// Fills `values` from `in`; the place of the first that is infinite or no number, values.size() without one.
std::size_t get_finite(ByteReader& in, std::span<float> values);
// The same for words of two bfloat16 values each: the place of the first word with such a value.
std::size_t get_finite_pairs(ByteReader& in, std::span<std::uint32_t> words);

}  // namespace slide
