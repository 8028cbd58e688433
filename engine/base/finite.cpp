#include "engine/base/finite.h"

#include <algorithm>
#include <bit>

namespace slide {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16;  // values per piece, checked while in cache
constexpr std::uint32_t kExponent = 0x7f800000;       // all bits set: infinity or NaN

bool is_bad(float value) {
  return (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent;
}
bool is_bad(std::uint32_t pair) {
  return (pair & kExponent) == kExponent || (pair << 16 & kExponent) == kExponent;
}

// Branch-free, for vectorisation.
template <class T>
bool all_good(std::span<const T> values) {
  std::uint32_t bad = 0;
  for (const T value : values) bad += is_bad(value);
  return bad == 0;
}

// Index of the first bad value, or values.size(). Reads all values in any case.
template <class T>
std::size_t get(ByteReader& in, std::span<T> values) {
  std::size_t first = values.size();
  for (std::size_t at = 0; at < values.size(); at += kPiece) {
    const std::span<T> piece = values.subspan(at, std::min(kPiece, values.size() - at));
    in.get_values(piece);
    if (first < values.size() || all_good<T>(piece)) continue;
    const auto found = std::ranges::find_if(piece, [](T value) { return is_bad(value); });
    first = at + static_cast<std::size_t>(found - piece.begin());
  }
  return first;
}

}  // namespace

bool all_finite(std::span<const float> values) {
  return all_good(values);
}

std::size_t get_finite(ByteReader& in, std::span<float> values) {
  return get(in, values);
}

std::size_t get_finite_pairs(ByteReader& in, std::span<std::uint32_t> words) {
  return get(in, words);
}

}  // namespace slide
