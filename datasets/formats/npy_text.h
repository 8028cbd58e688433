// Arrays of text in NumPy's format: every text has as many characters of four bytes as the longest. Pure
// functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/formats/npy.h"

namespace slide {

// Bytes of the items of such an array. O(bytes of the texts).
std::uint64_t npy_text_size(const std::vector<std::string>& texts);
// The bytes of an array `<U`, with U+FFFD for each byte that is not UTF-8.
std::string npy_text_bytes(const std::vector<std::string>& texts);

// The texts of an array [n] of text, of bytes or of whole numbers; zeros at their ends do not count. Throws
// InputError for any other array, and where memory is exhausted.
std::vector<std::string> read_npy_texts(std::string bytes, const NpyName& name);

}  // namespace slide
