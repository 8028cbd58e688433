// Weights in bfloat16 (the upper 16 bits of a float), two per 32-bit word. Pure functions.
//
// A row of n columns is round_up(n, 32) / 2 words. In every group of 32 columns, word j holds column j in its
// low half and column 16 + j in its high half, so that one shift and one mask turn a register of words into
// two registers of floats. Padding columns are zero.
//
// Updates use stochastic rounding (Gupta et al. 2015, section 3): a value is rounded up or down with
// probabilities that preserve its mean, so that updates much smaller than a weight's last bit are not lost.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace slide::kernels {

inline constexpr std::size_t kPairGroup = 32;  // columns per group

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

// Rounds to the nearest bfloat16 value, ties to even.
inline float nearest_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return std::bit_cast<float>((bits + 0x7fffu + (bits >> 16 & 1u)) & 0xffff0000u);
}

// Conversions of a single bfloat16 value.
inline std::uint16_t to_bf16(float value) {
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(nearest_bf16(value)) >> 16);
}
inline float from_bf16(std::uint16_t bf16) {
  return std::bit_cast<float>(std::uint32_t{bf16} << 16);
}

// Random bits for word `word` of a row under `noise`, the update's random number: 16 bits for each of the
// word's two columns, low half first.
inline std::uint32_t rounding_bits(std::uint32_t noise, std::size_t word) {
  std::uint32_t h = static_cast<std::uint32_t>(word) * 0x9e3779b9u + noise;
  h = (h ^ (h >> 16)) * 0x7feb352du;
  h = (h ^ (h >> 15)) * 0x846ca68bu;
  return h ^ (h >> 16);
}

// Sets column `column` of a row from the upper half of a float's bits.
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
