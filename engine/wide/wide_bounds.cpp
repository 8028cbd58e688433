#include "engine/wide/wide_bounds.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr float kLargestByte = 127.0f;

// Smallest power of two such that `largest` in its units is at most 127.
int exponent_of(float largest) {
  int exponent = 0;
  std::frexp(largest, &exponent);  // largest < 2^exponent
  exponent = std::clamp(exponent - 7, -126, 120);
  return largest > kLargestByte * kernels::int8_factor(exponent) ? exponent + 1 : exponent;
}

}  // namespace

void WideBounds::Samples::clear() {
  rows.clear();
  values.clear();
  from.assign(1, 0);
}

WideBounds::WideBounds(const LinearTerm& wide, std::size_t features, std::size_t few)
    : groups_((wide.storage().offsets.size() - 1 + kGroup - 1) / kGroup),
      few_(few),
      stride_(round_up(groups_, kernels::kPairGroup)),
      rows_(features, 0) {
  const LinearTerm::Storage& from = wide.storage();
  for (const std::uint32_t f : from.features) ++rows_[f];
  std::uint32_t count = 0;
  for (std::uint32_t& row : rows_) row = row > few ? count++ : kNone;
  std::vector<float> largest(count, 0.0f);
  const auto each_weight = [&](const auto& use) {
    for (std::size_t n = 0; n + 1 < from.offsets.size(); ++n) {
      for (std::uint64_t at = from.offsets[n]; at < from.offsets[n + 1]; ++at) {
        const std::uint32_t row = rows_[from.features[at]];
        if (row != kNone) use(n, row, from.weight(n, at));
      }
    }
  };
  each_weight([&](std::size_t, std::uint32_t row, float w) { largest[row] = std::max(largest[row], w); });
  q_ = AlignedArray<std::int8_t>(count * stride_);
  exponents_ = AlignedArray<std::int8_t>(count);
  std::vector<float> factors(count);
  for (std::size_t r = 0; r < count; ++r) {
    const int exponent = exponent_of(largest[r]);
    exponents_[r] = static_cast<std::int8_t>(exponent);
    factors[r] = kernels::int8_factor(-exponent);
  }
  each_weight([&](std::size_t n, std::uint32_t row, float w) {
    std::int8_t& bound = q_[row * stride_ + n / kGroup];
    bound = std::max(bound, static_cast<std::int8_t>(std::ceil(std::max(w, 0.0f) * factors[row])));
  });
}

bool WideBounds::append(const SparseRow& row, Samples& samples) const {
  for (const float value : row.values) {
    if (!(value >= 0.0f)) return false;
  }
  for (std::size_t i = 0; i < row.ids.size(); ++i) {
    if (rows_[row.ids[i]] == kNone) continue;
    samples.rows.push_back(rows_[row.ids[i]]);
    samples.values.push_back(row.values[i]);
  }
  samples.from.push_back(samples.rows.size());
  return true;
}

void WideBounds::bound(const Samples& samples, std::size_t sample, std::size_t first, std::size_t count,
                       float* bounds) const {
  std::fill_n(bounds, count, 0.0f);
  const std::size_t from = samples.from[sample], rows = samples.from[sample + 1] - from;
  if (rows == 0) return;
  kernels::active().gather_rows_int8({q_.data() + first, stride_, exponents_.data()},
                                     samples.rows.data() + from, samples.values.data() + from, rows, count,
                                     bounds);
}

std::size_t WideBounds::bytes() const {
  return q_.bytes() + exponents_.bytes() + rows_.size() * sizeof(std::uint32_t);
}

}  // namespace slide
