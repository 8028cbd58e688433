#include "engine/inference/panel_screen.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/parallel.h"
#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {

constexpr std::size_t kTaskRows = 1024;
constexpr double kMostScore = 0x1p126;   // what is larger may overflow
constexpr double kFloatError = 0x1p-22;  // of a column's part in two sums of floats, relative to the lengths

struct Lengths {
  double error2 = 0.0;  // squared, of the largest row of rounding errors
  double row2 = 0.0;    // squared, of the largest row
};

Lengths largest_lengths(const Parameters& weights, std::size_t first, std::size_t end, std::size_t stride) {
  const auto& k = kernels::active();
  std::vector<std::uint32_t> pairs(stride);
  std::vector<float> errors(weights.columns);
  Lengths largest;
  for (std::size_t r = first; r < end; ++r) {
    const float* row = weights.row(r);
    k.narrow_nearest(row, weights.columns, pairs.data());
    k.widen(pairs.data(), weights.columns, errors.data());
    k.axpy(-1.0F, row, weights.columns, errors.data());
    const double error2 = k.dot(errors.data(), errors.data(), weights.columns);
    const double row2 = k.dot(row, row, weights.columns);
    // The negation keeps what is no number.
    if (!(error2 <= largest.error2)) largest.error2 = error2;
    if (!(row2 <= largest.row2)) largest.row2 = row2;
    if (!std::isfinite(largest.row2) || !std::isfinite(largest.error2)) break;
  }
  return largest;
}

}  // namespace

PanelScreen::PanelScreen(const Layer& output, int threads)
    : output_(output), stride_(round_up(output.inputs(), kernels::kPairGroup) / 2) {
  const std::size_t rows = output.size(), tasks = (rows + kTaskRows - 1) / kTaskRows;
  std::vector<Lengths> largest(tasks);
  parallel_for(tasks, threads, [&](std::size_t t, int) {
    largest[t] =
        largest_lengths(output.weights(), t * kTaskRows, std::min(rows, (t + 1) * kTaskRows), stride_);
  });
  for (const Lengths& lengths : largest) {
    worst_error_ =
        std::max(worst_error_, std::isfinite(lengths.error2) ? std::sqrt(lengths.error2) : INFINITY);
    worst_length_ = std::max(worst_length_, std::isfinite(lengths.row2) ? std::sqrt(lengths.row2) : INFINITY);
  }
}

bool PanelScreen::bounded() const {
  return std::isfinite(worst_error_) && std::isfinite(worst_length_);
}

PanelScreen::Scratch PanelScreen::make_scratch(std::size_t neurons, std::size_t samples) const {
  Scratch scratch{AlignedArray<std::uint32_t>(neurons * stride_),
                  std::vector<std::uint32_t>(neurons),
                  std::vector<float>(neurons),
                  std::vector<float>(samples),
                  AlignedArray<std::uint32_t>(stride_),
                  AlignedArray<float>(stride_ * 2)};
  std::iota(scratch.numbers.begin(), scratch.numbers.end(), 0U);
  return scratch;
}

// |w.x - w'.x'| <= |w - w'| |x| + |w'| |x - x'| by the triangle and Cauchy-Schwarz's inequality, where |w'|
// is at most |w| + |w - w'|; and the sums are of floats.
bool PanelScreen::begin_block(const BlockInput& in, std::size_t first, Scratch& scratch) const {
  const double of_float = kFloatError * static_cast<double>(output_.inputs());
  const double longest = worst_length_ + worst_error_;
  for (std::size_t s = 0; s < in.samples; ++s) {
    const float* x = in.x + s * in.ldx;
    double length2 = 0.0, error2 = 0.0;
    for (std::size_t i = 0; i < in.width; ++i) {
      const double error = double{x[i]} - double{kernels::nearest_bf16(x[i])};
      length2 += double{x[i]} * double{x[i]};
      error2 += error * error;
    }
    const double length = std::sqrt(length2), error_length = std::sqrt(error2);
    if (!(longest * (length + error_length) < kMostScore)) return false;
    scratch.errors[first + s] = static_cast<float>(worst_error_ * length + longest * error_length +
                                                   of_float * worst_length_ * length);
  }
  return true;
}

void PanelScreen::score(std::span<const BlockInput> blocks, std::span<const std::uint32_t> ids,
                        Scratch& scratch, float* z) const {
  const auto& k = kernels::active();
  for (std::size_t a = 0; a < ids.size(); ++a) {
    k.narrow_nearest(output_.weights().row(ids[a]), output_.inputs(), scratch.rows.data() + a * stride_);
    scratch.shift[a] = *output_.bias().row(ids[a]);
  }
  for (const BlockInput& in : blocks) {
    k.rows_forward_bf16(scratch.rows.data(), stride_, scratch.numbers.data(), ids.size(),
                        scratch.shift.data(), in.xt, in.width, in.lanes, z);
    z += ids.size() * in.lanes;
  }
}

void PanelScreen::select_sample(const BlockInput& in, std::size_t s, Scratch& scratch) const {
  const float* x = in.x + s * in.ldx;
  std::transform(x, x + in.width, scratch.x.data(), kernels::nearest_bf16);
}

float PanelScreen::correction(const BlockInput& in, std::size_t s, std::uint32_t id, Scratch& scratch) const {
  const auto& k = kernels::active();
  const float* row = output_.weights().row(id);
  k.narrow_nearest(row, in.width, scratch.row.data());
  float rough = 0.0F;
  k.add_dots_bf16(scratch.row.data(), stride_, 1, scratch.x.data(), stride_ * 2, &rough);
  return k.dot(row, in.x + s * in.ldx, in.width) - rough;
}

}  // namespace slide
