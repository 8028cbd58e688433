// Lists of ascending ids in few bits, as small model files hold them: Golomb-Rice codes of the gaps between
// the ids (Golomb, "Run-length encodings", 1966; Rice, "Some practical universal noiseless coding
// techniques", 1979), each list with the parameter that suits it. FORMAT.md describes every bit.
//
// Functions may be called from any thread, on different readers and writers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/byte_io.h"

namespace slide {

// List i has the ids [offsets[i], offsets[i + 1]).
struct IdLists {
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> ids;
};

// The ids of a list ascend, each once.
void put_lists(ByteWriter& out, std::span<const std::uint64_t> offsets, std::span<const std::uint32_t> ids);

// What put_lists() wrote: so many lists of ids below `bound`. Refuses what cannot be that as "`what` that
// cannot be", before more memory is asked for than 12 bytes for each bit there is.
IdLists get_lists(ByteReader& in, std::size_t lists, std::size_t bound, const char* what);

}  // namespace slide
