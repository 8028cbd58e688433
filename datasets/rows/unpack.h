// Streaming decompression of gzip and Zstandard. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace slide {

inline constexpr std::size_t kPackedMagicBytes = 4;  // bytes needed to detect compression

// Whether the bytes begin like gzip or Zstandard.
bool is_packed(std::string_view bytes);

// The name of another packing that the bytes begin like: "xz", "bzip2", "7-Zip", "lz4" or "RAR".
std::optional<std::string_view> other_packing(std::string_view bytes);

// Receives a piece of decompressed bytes; `input` points to the remaining input. Returning false stops.
using TakeUnpacked = std::function<bool(std::string_view piece, const char* input)>;

// Decompresses all members (gzip) or frames (Zstandard, windows up to 128 MiB). Ignores data after the last
// gzip member. Throws InputError, naming `origin`, where the data are truncated or damaged.
void unpack(std::string_view bytes, const std::string& origin, const TakeUnpacked& take);

// The same into memory; throws InputError also where memory is insufficient.
std::string unpack(std::string_view bytes, const std::string& origin);

// Decompresses the beginning of a file, `bytes`, up to about `limit` bytes, as far as it is complete and
// valid. Uncompressed bytes are returned unchanged.
std::string unpack_head(std::string_view bytes, std::size_t limit);

}  // namespace slide
