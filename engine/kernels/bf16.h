// Weights in bfloat16, two in a 32-bit word: the upper half of a float's bits.
//
// A row of n columns is round_up(n, 32) / 2 words. In every group of 32 columns, word j holds column j in its
// low and column 16 + j in its high half, so that one shift and one mask turn a register of words into two of
// floats. Columns behind the last are zero.
//
// Updates round stochastically (Gupta et al. 2015, section 3): a value goes to one of its two neighbours with
// a probability that keeps its mean, so that those much smaller than a weight's last bit are not lost.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace slide::kernels {

inline constexpr std::size_t kPairGroup = 32;  // columns of a group

inline std::size_t pair_word(std::size_t column) {
  return column / kPairGroup * (kPairGroup / 2) + column % (kPairGroup / 2);
}
inline bool in_high_half(std::size_t column) {
  return column % kPairGroup >= kPairGroup / 2;
}

inline float pair_value(const std::uint32_t* row, std::size_t column) {
  const std::uint32_t word = row[pair_word(column)];
  return std::bit_cast<float>(in_high_half(column) ? word & 0xffff0000u : word << 16);
}

// The nearest bfloat16 value, of two equally near ones the even.
inline float nearest_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}

// A bfloat16 value alone.
inline std::uint16_t to_bf16(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(nearest_bf16(value)) >> 16);
}
inline float from_bf16(std::uint16_t bf16) {
  return std::bit_cast<float>(std::uint32_t{bf16} << 16);
}

// Random bits of number `word` under `noise`. A bfloat16 row takes one for each word, 16 bits for each of its
// columns, low half first; its noise is the row's update's.
inline std::uint32_t rounding_bits(std::uint32_t noise, std::size_t word) {
  std::uint32_t h = static_cast<std::uint32_t>(word) * 0x9e3779b9u + noise;
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  return h ^ (h >> 16);
}

// Column `column` of a row from the upper half of a float's bits.
inline void set_bf16(std::uint32_t* row, std::size_t column, std::uint32_t bits) {
  std::uint32_t& word = row[pair_word(column)];
  word = in_high_half(column) ? (word & 0xffffu) | (bits & 0xffff0000u) : (word & 0xffff0000u) | (bits >> 16);
}

inline void set_pair_value(std::uint32_t* row, std::size_t column, float value, std::uint32_t noise) {
  const std::uint32_t random = rounding_bits(noise, pair_word(column));
  const auto exact = std::bit_cast<std::uint32_t>(value);
  set_bf16(row, column, exact + (in_high_half(column) ? random >> 16 : random & 0xffffu));
}

inline void set_nearest_pair_value(std::uint32_t* row, std::size_t column, float value) {
  set_bf16(row, column, std::bit_cast<std::uint32_t>(nearest_bf16(value)));
}

}  // namespace slide::kernels
