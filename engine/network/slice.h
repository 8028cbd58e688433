// How the work on a block is cut into tasks: by its sizes, never by threads. A task writes what no other one
// writes, and adds up in the order that one task for the whole would take, so that results do not depend on
// where the cuts are.
#pragma once

#include <algorithm>
#include <cstddef>

namespace slide {

struct Slice {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t end() const { return first + count; }
};

inline constexpr std::size_t kSliceNeurons = 48;  // active: logits, loss, rounding; whole tiles of kernels
inline constexpr std::size_t kSliceColumns = 32;  // of the input of a layer: their gradient
inline constexpr std::size_t kSliceSamples = 16;  // their first activations; whole registers

// How many slices `whole` is cut into, all but the last of `size`; number i of them.
constexpr std::size_t slices_of(std::size_t whole, std::size_t size) {
  return (whole + size - 1) / size;
}
constexpr Slice slice_of(std::size_t i, std::size_t whole, std::size_t size) {
  return {i * size, std::min(size, whole - i * size)};
}

}  // namespace slide
