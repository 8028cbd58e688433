// Slices: fixed ranges of a block's samples, active neurons or units; a tile is computed from one or several.
// Slices depend on the sizes of the block only, never on the number of threads, and no sum is split between
// tasks. So results do not depend on the threads. Pure functions.
#pragma once

#include <algorithm>
#include <cstddef>

namespace slide {

struct Slice {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t end() const { return first + count; }
};

inline constexpr std::size_t kSliceNeurons = 16;  // active neurons: logits, loss, sparsification
inline constexpr std::size_t kSliceColumns = 32;  // input units of a layer: their gradient
inline constexpr std::size_t kSliceSamples = 16;  // samples: input layer, normalised loss

// Slices of `size` elements of a range of `whole`, the last one shorter: their number, slice number i, and
// the elements that the slices [slices.first, slices.end()) cover.
constexpr std::size_t slices_of(std::size_t whole, std::size_t size) {
  return (whole + size - 1) / size;
}
constexpr Slice slice_of(std::size_t i, std::size_t whole, std::size_t size) {
  return {i * size, std::min(size, whole - i * size)};
}
constexpr Slice covered(Slice slices, std::size_t whole, std::size_t size) {
  return {slices.first * size, std::min(slices.count * size, whole - slices.first * size)};
}

// A rectangle of units and samples.
struct SliceCell {
  Slice units, samples;
};

// A grid of unit_runs x sample_runs rectangles of about equal numbers of slices.
struct SliceCells {
  std::size_t units, samples, unit_runs, sample_runs;

  std::size_t size() const { return unit_runs * sample_runs; }
  SliceCell cell(std::size_t i) const {
    return {run(i / sample_runs, unit_runs, units, kSliceColumns),
            run(i % sample_runs, sample_runs, samples, kSliceSamples)};
  }

 private:
  static Slice run(std::size_t i, std::size_t runs, std::size_t whole, std::size_t size) {
    const std::size_t slices = slices_of(whole, size), first = slices * i / runs;
    return covered({first, slices * (i + 1) / runs - first}, whole, size);
  }
};

}  // namespace slide
