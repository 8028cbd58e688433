// What gzip and Zstandard have packed, unpacked piece by piece. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace slide {

inline constexpr std::size_t kPackedMagicBytes = 4;  // of a file, to see whether it is packed

// Whether the bytes start like gzip or Zstandard.
bool is_packed(std::string_view bytes);

// Takes a piece of unpacked bytes, after which the input that is left starts at `input`. False: no more is
// wanted.
using TakeUnpacked = std::function<bool(std::string_view piece, const char* input)>;

// Unpacks packed bytes, one or several members (gzip) or frames (Zstandard, of a window up to 128 MiB). What
// follows the last member of gzip counts for nothing. Throws InputError that names `origin` when the data are
// cut off or damaged.
void unpack(std::string_view bytes, const std::string& origin, const TakeUnpacked& take);

// The same into memory; also throws InputError when that is more than there is memory for.
std::string unpack(std::string_view bytes, const std::string& origin);

// The first bytes of what `bytes`, the beginning of a file, unpacks to, up to about `most`: as far as it is
// there and sound. Bytes that are not packed are returned as they are.
std::string unpack_head(std::string_view bytes, std::size_t most);

}  // namespace slide
