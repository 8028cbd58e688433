#include "engine/model/int8_rows.h"

#include <algorithm>
#include <cmath>

namespace slide {

namespace {
constexpr float kMax = 127.0f;
}

int int8_exponent(std::span<const float> row) {
  float largest = 0.0f;
  for (const float x : row) largest = std::max(largest, std::fabs(x));
  if (largest == 0.0f) return 0;
  int exponent = 0;
  std::frexp(largest, &exponent);  // largest < 2^exponent = 128 * 2^(exponent - 7)
  exponent = std::clamp(exponent - 7, kMinExponent, kMaxExponent);
  const bool fits = largest <= kMax * std::ldexp(1.0f, exponent);
  return fits ? exponent : std::min(exponent + 1, kMaxExponent);
}

bool are_int8_exponents(std::span<const std::int8_t> exponents) {
  return std::ranges::all_of(exponents, [](int e) { return e >= kMinExponent && e <= kMaxExponent; });
}

void to_int8(std::span<const float> row, int exponent, std::int8_t* q) {
  const float factor = std::ldexp(1.0f, -exponent);
  std::ranges::transform(row, q, [factor](float x) {
    return static_cast<std::int8_t>(std::clamp(std::nearbyint(x * factor), -kMax, kMax));
  });
}

void from_int8(const std::int8_t* q, int exponent, std::span<float> row) {
  const float factor = std::ldexp(1.0f, exponent);
  std::transform(q, q + row.size(), row.begin(),
                 [factor](std::int8_t x) { return factor * static_cast<float>(x); });
}

}  // namespace slide
