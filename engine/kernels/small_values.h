// Quantized weights of the linear term: the values of sparse rows, one row after another, as a quantized
// model file stores them. They are bfloat16, or int8 with a power-of-two factor per row (kernels/int8.h).
// Each value is exactly representable in bfloat16.
//
// Plain data; concurrent reads are safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/kernels/bf16.h"
#include "engine/kernels/int8.h"

namespace slide {

struct SmallValues {
  std::vector<std::uint16_t> halves;      // bfloat16 values of all rows; or
  std::vector<std::int8_t> q, exponents;  // int8 values of all rows, and one exponent per row

  bool empty() const { return halves.empty() && q.empty(); }
  bool in_bytes() const { return !q.empty(); }
  float half(std::uint64_t at) const { return kernels::from_bf16(halves[at]); }
  float byte(std::size_t row, std::uint64_t at) const {
    return kernels::int8_factor(exponents[row]) * static_cast<float>(q[at]);
  }
  // Value at index `at` of all values, which belongs to `row`.
  float value(std::size_t row, std::uint64_t at) const { return in_bytes() ? byte(row, at) : half(at); }
  // Writes `count` values of `row`, from index `at` on, to `to`.
  void load(std::size_t row, std::uint64_t at, std::size_t count, float* to) const {
    if (in_bytes()) {
      for (std::size_t i = 0; i < count; ++i) to[i] = byte(row, at + i);
    } else {
      for (std::size_t i = 0; i < count; ++i) to[i] = half(at + i);
    }
  }
  std::size_t bytes() const { return halves.size() * sizeof(std::uint16_t) + q.size() + exponents.size(); }
};

}  // namespace slide
