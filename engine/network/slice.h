// How the work on a block is cut: into slices by its sizes, never by threads. A task does a run of them,
// writes what no other one writes, and adds up in the order that one task for the whole would take, so that
// results depend neither on where the cuts are nor on who does what.
#pragma once

#include <algorithm>
#include <cstddef>

namespace slide {

struct Slice {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t end() const { return first + count; }
};

inline constexpr std::size_t kSliceNeurons = 16;  // active: logits, loss, rounding
inline constexpr std::size_t kSliceColumns = 32;  // of the input of a layer: their gradient
inline constexpr std::size_t kSliceSamples = 16;  // their first activations; whole registers

// How many slices `whole` is cut into, all but the last of `size`; number i of them; and what some of them
// cover together.
constexpr std::size_t slices_of(std::size_t whole, std::size_t size) {
  return (whole + size - 1) / size;
}
constexpr Slice slice_of(std::size_t i, std::size_t whole, std::size_t size) {
  return {i * size, std::min(size, whole - i * size)};
}
constexpr Slice covered(Slice slices, std::size_t whole, std::size_t size) {
  return {slices.first * size, std::min(slices.count * size, whole - slices.first * size)};
}

// Some units of some samples.
struct SliceCell {
  Slice units, samples;
};

// Units and samples cut crosswise, each into about equal runs of slices.
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
