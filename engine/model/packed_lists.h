// Compression of lists of ascending ids for quantized model files: Golomb-Rice codes of the gaps between ids
// (Golomb, "Run-length encodings", 1966; Rice, "Some practical universal noiseless coding techniques", 1979),
// with an individual parameter per list. FORMAT.md specifies every bit.
//
// Functions are safe from any thread, for different readers and writers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/byte_io.h"

namespace slide {

// List i has the ids with indices offsets[i] to offsets[i + 1] - 1.
struct IdLists {
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> ids;
};

// Writes the lists; ids of a list ascend strictly.
void put_lists(ByteWriter& out, std::span<const std::uint64_t> offsets, std::span<const std::uint32_t> ids);

// Reads `lists` lists written by put_lists(), with ids below `bound`. Throws InputError "`what` that cannot
// be" for invalid data, before allocating more than 12 bytes per bit of input.
IdLists get_lists(ByteReader& in, std::size_t lists, std::size_t bound, const char* what);

}  // namespace slide
