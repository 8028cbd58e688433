// Common parts of the kernels written over xsimd: registers, tile shapes, horizontal sums, prefetch.
//
// The headers simd_*.h are included only by the source files of instruction sets. Everything in them is in an
// anonymous namespace, names its architecture and calls no shared inline function, so that the linker cannot
// pick code for one instruction set on a machine with another.
#pragma once

#include <xsimd/xsimd.hpp>

#include "engine/kernels/kernels.h"
#include "engine/kernels/unroll.h"

namespace slide::kernels {
namespace {

// Tile shapes of an instruction set, chosen so that accumulators, operands and pointers fit in registers.
// Forward: rows, and registers of samples held at once, of rows_forward. Backward: samples x registers of
// units of rows_backward_input. Gradient: rows x registers of units of rows_gradient.
template <class Arch>
struct Tiles;

template <class Arch>
using Vec = xsimd::batch<float, Arch>;

template <class Arch>
constexpr size_t kWidth = Vec<Arch>::size;

// Registers of 32-bit words, for the bits of floats.
template <class Arch>
using Words = xsimd::batch<std::uint32_t, Arch>;

inline size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

template <class Arch>
float sum_of(const Vec<Arch>& v) {
#if XSIMD_VERSION_MAJOR >= 10
  return xsimd::reduce_add(v);
#else
  return xsimd::hadd(v);
#endif
}

// Element r is the sum over v[r], for kWidth registers v.
template <class Arch>
Vec<Arch> sum_each(const Vec<Arch>* v) {
  static_assert(kWidth<Arch> < 16, "haddp of xsimd 8 adds up wrong with AVX-512");
  return xsimd::haddp(v);
}

template <class Arch>
Vec<Arch> as_floats(const Words<Arch>& v) {
#if XSIMD_VERSION_MAJOR >= 10
  return xsimd::bitwise_cast<float>(v);
#else
  return xsimd::bitwise_cast<Vec<Arch> >(v);
#endif
}
template <class Arch>
Words<Arch> as_words(const Vec<Arch>& v) {
#if XSIMD_VERSION_MAJOR >= 10
  return xsimd::bitwise_cast<std::uint32_t>(v);
#else
  return xsimd::bitwise_cast<Words<Arch> >(v);
#endif
}

// Prefetch distances, in rows, of kernels that process one row at a time.
constexpr size_t kRowsAhead = 4;
constexpr size_t kShortRowsAhead = 16;  // for rows of a cache line or two

// Must be inlined, else GCC drops it: see base/prefetch.h, which must not be included here.
[[gnu::always_inline]] inline void prefetch_row(const float* row, size_t n) {
  for (size_t k = 0; k < n; k += kLaneMultiple) __builtin_prefetch(row + k);
}

}  // namespace
}  // namespace slide::kernels
