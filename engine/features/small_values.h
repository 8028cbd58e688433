// The values of sparse rows, one row behind the other, as a small model file holds them: bfloat16, or bytes
// with a power of two for each row (kernels/int8.h). All are bfloat16 values.
//
// Plain data; reading is safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/kernels/bf16.h"
#include "engine/kernels/int8.h"

namespace slide {

struct SmallValues {
  std::vector<std::uint16_t> halves;      // of all rows; or
  std::vector<std::int8_t> q, exponents;  // of all rows, and of each row

  bool empty() const { return halves.empty() && q.empty(); }
  bool in_bytes() const { return !q.empty(); }
  float half(std::uint64_t at) const { return kernels::from_bf16(halves[at]); }
  float byte(std::size_t row, std::uint64_t at) const {
    return kernels::int8_factor(exponents[row]) * static_cast<float>(q[at]);
  }
  // Value number `at` of all, which is one of `row`.
  float value(std::size_t row, std::uint64_t at) const { return in_bytes() ? byte(row, at) : half(at); }
  // to[count] = those of `row` from number `at` on.
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
