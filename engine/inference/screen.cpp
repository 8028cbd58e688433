#include "engine/inference/screen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {

// What float sums of the rough and the exact score may differ by, relative to the largest of them.
constexpr double kRounding = 1e-4;

// Calls take(n) for the scores z[n], first <= n < end, that are above `least`. z is aligned at `first`.
template <class Take>
void for_each_above(const float* z, std::size_t first, std::size_t end, float least,
                    std::vector<std::uint32_t>& places, Take&& take) {
  constexpr std::size_t kLanes = kernels::kLaneMultiple;
  std::array<float, kLanes> threshold;
  threshold.fill(least);
  const std::size_t rows = (end - first) / kLanes;
  const std::size_t found =
      kernels::active().select_above(z + first, rows, kLanes, threshold.data(), places.data());
  for (std::size_t i = 0; i < found; ++i) take(first + places[i]);
  for (std::size_t n = first + rows * kLanes; n < end; ++n) {
    if (z[n] > least) take(n);
  }
}

}  // namespace

Screen::Screen(const Layer& output, const WidePostings* wide)
    : output_(output), wide_(wide), stride_(round_up(output.inputs(), kernels::kPairGroup)) {
  if (output.weights().is_fp32()) copy_weights();
}

void Screen::copy_weights() {
  const auto& k = kernels::active();
  const std::size_t rows = output_.size(), columns = output_.inputs();
  q_ = AlignedArray<std::int8_t>(rows * stride_);
  exponents_.resize(rows);
  errors_.assign((rows + kStretch - 1) / kStretch, 0.0F);
  std::vector<float> rounded(columns);
  for (std::size_t r = 0; r < rows; ++r) {
    const float* row = output_.weights().row(r);
    if (!std::isfinite(k.dot(row, row, columns))) {
      bounded_ = false;
      return;
    }
    std::int8_t* q = q_.data() + r * stride_;
    exponents_[r] = static_cast<std::int8_t>(k.narrow_int8(row, columns, q));
    k.widen_int8({q, stride_, &exponents_[r]}, 0, columns, rounded.data());
    double square = 0.0;
    for (std::size_t c = 0; c < columns; ++c) {
      const double one = double{row[c]} - double{rounded[c]};
      square += one * one;
    }
    float& worst = errors_[r / kStretch];
    worst = std::max(worst, std::nextafter(static_cast<float>(std::sqrt(square)), INFINITY));
  }
}

Screen::Scratch Screen::make_scratch() const {
  Scratch scratch{AlignedArray<float>(stride_), AlignedArray<float>(output_.size()), {}, {}};
  scratch.places.resize(kStretch + 1);
  return scratch;
}

// What the rough scores of the stretch that begins with neuron `first` may be wrong by, for activations of
// that length.
float Screen::error(std::size_t first, double length) const {
  return errors_.empty() ? 0.0F : static_cast<float>(errors_[first / kStretch] * length);
}

// Rough scores of all neurons.
void Screen::score(const BlockInput& in, const SparseRow& row, Scratch& scratch) const {
  const std::size_t neurons = output_.size();
  const Parameters& weights = output_.weights();
  std::copy_n(in.xt, in.width, scratch.x.data());
  if (!weights.is_fp32()) {  // exact scores are those of rounded activations
    for (float& x : scratch.x) x = kernels::nearest_bf16(x);
  }
  float* z = scratch.z.data();
  std::copy_n(output_.bias().row(0), neurons, z);
  if (weights.is_bf16()) {
    kernels::active().add_dots_bf16(weights.pair_row(0), stride_ / 2, neurons, scratch.x.data(), stride_, z);
  } else {
    const kernels::Int8Rows rows =
        weights.is_int8() ? weights.int8_rows() : kernels::Int8Rows{q_.data(), stride_, exponents_.data()};
    kernels::active().add_dots_int8(rows, output_.all_neurons().data(), neurons, scratch.x.data(), stride_,
                                    z);
  }
  if (wide_ != nullptr) wide_->add(row, z);
}

// What the k-th best exact score is at least: a heap of the k best of the rough scores, each less what it may
// be wrong by, the least of them in front.
float Screen::least_of_best(std::size_t k, double length, Scratch& scratch) const {
  const std::size_t neurons = output_.size();
  const float* z = scratch.z.data();
  std::vector<float>& best = scratch.best;
  best.assign(k, -INFINITY);
  for (std::size_t first = 0; first < neurons; first += kStretch) {
    const float wrong = error(first, length);
    for_each_above(z, first, std::min(neurons, first + kStretch), best.front() + wrong, scratch.places,
                   [&](std::size_t n) {
                     if (z[n] - wrong <= best.front()) return;
                     std::pop_heap(best.begin(), best.end(), std::greater<>());
                     best.back() = z[n] - wrong;
                     std::push_heap(best.begin(), best.end(), std::greater<>());
                   });
  }
  return best.front();
}

void Screen::find(const BlockInput& in, const SparseRow& row, std::size_t k, Scratch& scratch,
                  std::vector<std::uint32_t>& out) const {
  const std::size_t neurons = output_.size();
  score(in, row, scratch);
  double square = 0.0;
  for (std::size_t i = 0; i < in.width; ++i) square += double{in.xt[i]} * double{in.xt[i]};
  const double length = std::sqrt(square);
  const float best = least_of_best(std::min(k, neurons), length, scratch);
  const double rounding = 2 * kRounding * std::max(std::fabs(double{best}), 1.0);
  for (std::size_t first = 0; first < neurons; first += kStretch) {
    const auto least = static_cast<float>(best - error(first, length) - rounding);
    for_each_above(scratch.z.data(), first, std::min(neurons, first + kStretch), least, scratch.places,
                   [&](std::size_t n) { out.push_back(static_cast<std::uint32_t>(n)); });
  }
}

std::size_t Screen::bytes() const {
  return q_.bytes() + exponents_.size();
}

}  // namespace slide
