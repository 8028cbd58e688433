// bfloat16 rows (bf16.h) in registers and by element: widening, rounding, random bits.
#pragma once

#include "engine/kernels/simd.h"

namespace slide::kernels {
namespace {

constexpr size_t kPairs = 16;  // words of a group of columns
// rounding_bits() hashes the index of a word times this.
constexpr std::uint32_t kWordStep = 0x9e3779b9u;

// The floats in the low halves and in the high halves of words.
template <class Arch>
Vec<Arch> low_half(const Words<Arch>& v) {
  return as_floats<Arch>(v << 16);
}
template <class Arch>
Vec<Arch> high_half(const Words<Arch>& v) {
  return as_floats<Arch>(v & Words<Arch>(0xffff0000u));
}

// rounding_bits() for the words whose indices times kWordStep are `scaled`.
template <class Arch>
Words<Arch> rounding_words(const Words<Arch>& scaled, std::uint32_t noise) {
  Words<Arch> h = scaled + Words<Arch>(noise);
  h = (h ^ (h >> 16)) * Words<Arch>(0x7feb352du);
  h = (h ^ (h >> 15)) * Words<Arch>(0x846ca68bu);
  return h ^ (h >> 16);
}

// Indices times kWordStep of the words from `word` on, for rounding_words().
template <class Arch>
Words<Arch> first_words(size_t word) {
  constexpr size_t N = kWidth<Arch>;
  alignas(64) std::uint32_t numbers[N];
  for (size_t i = 0; i < N; ++i) numbers[i] = static_cast<std::uint32_t>(word + i) * kWordStep;
  return Words<Arch>::load_aligned(numbers);
}

// Packs two registers of floats into words, each rounded up by its 16 random bits of `bits`; truncates with
// bits of 0.
template <class Arch>
Words<Arch> to_pairs(const Vec<Arch>& low, const Vec<Arch>& high, const Words<Arch>& bits) {
  const Words<Arch> a = (as_words<Arch>(low) + (bits & Words<Arch>(0xffffu))) >> 16;
  const Words<Arch> b = (as_words<Arch>(high) + (bits >> 16)) & Words<Arch>(0xffff0000u);
  return a | b;
}

// nearest_bf16() (bf16.h) of each element.
template <class Arch>
Vec<Arch> nearest_bf16s(const Vec<Arch>& v) {
  const Words<Arch> bits = as_words<Arch>(v);
  return as_floats<Arch>((bits + Words<Arch>(0x7fffu) + ((bits >> 16) & Words<Arch>(1u))) &
                         Words<Arch>(0xffff0000u));
}

// Value of column k of a row; for the columns after the last whole group.
inline float one_value(const uint32_t* w, size_t k) {
  const uint32_t word = w[k / (2 * kPairs) * kPairs + k % kPairs];
  const uint32_t bits = k % (2 * kPairs) >= kPairs ? word & 0xffff0000u : word << 16;
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

// The bits of nearest_bf16() (bf16.h), which must not be called here.
inline uint32_t nearest_bf16_bits(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return (bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u;
}

// Same as rounding_bits() (bf16.h), which must not be called here.
inline uint32_t rounding_word(size_t at, uint32_t noise) {
  uint32_t h = static_cast<uint32_t>(at) * kWordStep + noise;
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  return h ^ (h >> 16);
}

// Sets column k of a row from the upper half of a float's bits.
inline void set_one_bf16(uint32_t* w, size_t k, uint32_t bits) {
  uint32_t& word = w[k / (2 * kPairs) * kPairs + k % kPairs];
  const bool in_high = k % (2 * kPairs) >= kPairs;
  word = in_high ? (word & 0xffffu) | (bits & 0xffff0000u) : (word & 0xffff0000u) | (bits >> 16);
}

// Sets column k of a row with stochastic rounding.
inline void set_one_value(uint32_t* w, size_t k, float value, uint32_t noise) {
  const uint32_t h = rounding_word(k / (2 * kPairs) * kPairs + k % kPairs, noise);
  uint32_t exact;
  __builtin_memcpy(&exact, &value, sizeof exact);
  set_one_bf16(w, k, exact + (k % (2 * kPairs) >= kPairs ? h >> 16 : h & 0xffffu));
}

// x [n] = the floats of a bfloat16 row: per group of 32 columns, first the 16 low halves, then the 16 high
// ones.
template <class Arch>
void widen(const uint32_t* w, size_t n, float* x) {
  constexpr size_t N = kWidth<Arch>;
  size_t k = 0;
  for (; k + 2 * kPairs <= n; k += 2 * kPairs) {
    SLIDE_UNROLL
    for (size_t v = 0; v < kPairs; v += N) {
      const auto words = Words<Arch>::load_unaligned(w + k / 2 + v);
      low_half<Arch>(words).store_unaligned(x + k + v);
      high_half<Arch>(words).store_unaligned(x + k + kPairs + v);
    }
  }
  for (; k < n; ++k) x[k] = one_value(w, k);
}

}  // namespace
}  // namespace slide::kernels
