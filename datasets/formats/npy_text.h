// Arrays of text in NumPy's format, `<U`: each text has 4 bytes for each character, padded by zeros to the
// length of the longest. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/formats/npy.h"

namespace slide {

// Upper bound of the bytes of such an array, without its header. O(number of texts).
std::uint64_t npy_text_size(const std::vector<std::string>& texts);
// The file of such an array, with U+FFFD for each byte outside a valid UTF-8 character.
std::string npy_text_bytes(const std::vector<std::string>& texts);

// The items of an array [n] of text (`U`), bytes (`S`) or integers, as text, without the zeros at the end.
// Throws InputError for any other array, and where memory does not suffice.
std::vector<std::string> read_npy_texts(std::string bytes, const NpyName& name);

}  // namespace slide
