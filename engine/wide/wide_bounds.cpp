#include "engine/wide/wide_bounds.h"

#include <algorithm>
#include <cmath>

#include "engine/base/parallel.h"
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

// A row of q_ for each bounded feature: the max weight of each group, at least 0, rounded up in units of the
// row's power of two.
WideBounds::WideBounds(const WidePostings& postings, std::size_t neurons, std::size_t few, int threads)
    : groups_((neurons + kGroup - 1) / kGroup),
      few_(few),
      stride_(round_up(groups_, kernels::kPairGroup)),
      rows_(postings.features(), kNone) {
  std::vector<std::size_t> bounded;  // feature of each row
  for (std::size_t f = 0; f < rows_.size(); ++f) {
    if (postings.count(f) <= few) continue;
    rows_[f] = static_cast<std::uint32_t>(bounded.size());
    bounded.push_back(f);
  }
  q_ = AlignedArray<std::int8_t>(bounded.size() * stride_);
  exponents_ = AlignedArray<std::int8_t>(bounded.size());
  parallel_for(bounded.size(), threads, [&](std::size_t row, int) {
    float largest = 0.0f;
    postings.visit(bounded[row], [&](std::uint32_t, float w) { largest = std::max(largest, w); });
    const int exponent = exponent_of(largest);
    exponents_[row] = static_cast<std::int8_t>(exponent);
    const float factor = kernels::int8_factor(-exponent);
    postings.visit(bounded[row], [&](std::uint32_t n, float w) {
      std::int8_t& bound = q_[row * stride_ + n / kGroup];
      bound = std::max(bound, static_cast<std::int8_t>(std::ceil(std::max(w, 0.0f) * factor)));
    });
  });
}

// Bounds cover max(weight, 0) only: with a negative value, negative weights would raise a score above them.
bool WideBounds::append(const SparseRow& row, Samples& samples) const {
  if (!std::ranges::all_of(row.values, [](float value) { return value >= 0.0f; })) {
    samples.from.push_back(samples.rows.size());
    return false;
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
