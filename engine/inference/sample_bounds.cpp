#include "engine/inference/sample_bounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {

// Max difference of the float sums of approximate and exact score, relative to the larger one.
constexpr float kRounding = 1e-4F;

float rounding_of(float score) {
  return 2 * kRounding * std::max(std::fabs(score), 1.0F);
}

}  // namespace

SampleBounds::SampleBounds(const Layer& output, const WidePostings* wide,
                           std::shared_ptr<const WideBounds> bounds)
    : output_(output),
      wide_(wide),
      bounds_(std::move(bounds)),
      stride_(round_up(output.inputs(), kernels::kPairGroup)) {
  if (output.weights().is_fp32()) copy_weights();
}

// Rounds the weight rows to int8: q_ [rows x stride_], an exponent per row, and the max length of the
// rounding error over kErrorRows rows, rounded up. No bounds where a row is not finite.
void SampleBounds::copy_weights() {
  const auto& k = kernels::active();
  const std::size_t rows = output_.size(), columns = output_.inputs();
  q_ = AlignedArray<std::int8_t>(rows * stride_);
  exponents_.resize(rows);
  errors_.assign((rows + kErrorRows - 1) / kErrorRows, 0.0F);
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
    float& worst = errors_[r / kErrorRows];
    worst = std::max(worst, std::nextafter(static_cast<float>(std::sqrt(square)), INFINITY));
  }
}

SampleBounds::Scratch SampleBounds::make_scratch() const {
  Scratch scratch{AlignedArray<float>(stride_), AlignedArray<float>(output_.size()), {}, {}, {}};
  if (bounds_) scratch.wide = AlignedArray<float>(bounds_->groups());
  scratch.places.resize(kErrorRows + 1);
  return scratch;
}

// Error bound of the approximate scores of the neurons that share the bound with neuron `first`, for
// activations of length `length`.
float SampleBounds::error(std::size_t first, double length) const {
  return errors_.empty() ? 0.0F : static_cast<float>(errors_[first / kErrorRows] * length);
}

// Approximate scores of all neurons, without the linear term.
void SampleBounds::score_hidden(const BlockInput& in, Scratch& scratch) const {
  const std::size_t neurons = output_.size();
  const Parameters& weights = output_.weights();
  std::copy_n(in.xt, in.width, scratch.x.data());
  if (!weights.is_fp32()) {  // exact scores use rounded activations
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
}

// Adds the linear term: bounds for frequent features; exact weights for all features where a negative value
// has no bound.
void SampleBounds::add_wide(const SparseRow& row, Scratch& scratch) const {
  scratch.sample.clear();
  if (!bounds_->append(row, scratch.sample)) return wide_->add(row, SIZE_MAX, scratch.z.data());
  wide_->add(row, bounds_->few(), scratch.z.data());
  bounds_->bound(scratch.sample, 0, 0, bounds_->groups(), scratch.wide.data());
  for (std::size_t g = 0; g < bounds_->groups(); ++g) {
    const float bound = scratch.wide.data()[g] * (1.0F + WideBounds::kRounding);
    const std::size_t end = std::min(output_.size(), (g + 1) * WideBounds::kGroup);
    for (std::size_t n = g * WideBounds::kGroup; n < end; ++n) scratch.z.data()[n] += bound;
  }
}

bool SampleBounds::bound(const BlockInput& in, const SparseRow& row, Scratch& scratch) const {
  double square = 0.0;
  for (std::size_t i = 0; i < in.width; ++i) square += double{in.xt[i]} * double{in.xt[i]};
  if (!std::isfinite(static_cast<float>(square))) return false;
  score_hidden(in, scratch);
  if (wide_ != nullptr) add_wide(row, scratch);
  const double length = std::sqrt(square);
  for (std::size_t first = 0; first < output_.size(); first += kErrorRows) {
    const float max_error = error(first, length);
    const std::size_t end = std::min(output_.size(), first + kErrorRows);
    for (std::size_t n = first; n < end; ++n) scratch.z.data()[n] += max_error;
  }
  return true;
}

// Calls take(n) for neurons whose bound is above `min_bound`. take() returns the new `min_bound`; calls may
// include neurons that it excludes.
template <class Take>
void SampleBounds::take(float min_bound, Scratch& scratch, Take&& take) const {
  constexpr std::size_t kLanes = kernels::kLaneMultiple;
  float* z = scratch.z.data();
  for (std::size_t first = 0; first < output_.size(); first += kErrorRows) {
    const std::size_t end = std::min(output_.size(), first + kErrorRows), rows = (end - first) / kLanes;
    std::array<float, kLanes> threshold;
    threshold.fill(min_bound);
    const std::size_t found =
        kernels::active().select_above(z + first, rows, kLanes, threshold.data(), scratch.places.data());
    for (std::size_t i = 0; i < found; ++i) min_bound = take(first + scratch.places[i]);
    for (std::size_t n = first + rows * kLanes; n < end; ++n) {
      if (z[n] > min_bound) min_bound = take(n);
    }
  }
}

void SampleBounds::take_largest(std::size_t count, Scratch& scratch,
                                std::vector<CandidateRescorer::Candidate>& out) const {
  using Candidate = CandidateRescorer::Candidate;
  float* z = scratch.z.data();
  const auto first = out.size();
  const auto above = [](const Candidate& a, const Candidate& b) { return a.bound > b.bound; };
  // out[first ..) is a heap with the smallest bound in front.
  take(-INFINITY, scratch, [&](std::size_t n) {
    if (out.size() - first == count) {
      if (z[n] <= out[first].bound) return out[first].bound;
      std::pop_heap(out.begin() + first, out.end(), above);
      out.pop_back();
    }
    out.push_back({static_cast<std::uint32_t>(n), z[n]});
    std::push_heap(out.begin() + first, out.end(), above);
    return out.size() - first == count ? out[first].bound : -INFINITY;
  });
  for (std::size_t i = first; i < out.size(); ++i) {
    z[out[i].label] = -INFINITY;
    out[i].bound += rounding_of(out[i].bound);
  }
}

void SampleBounds::take_above(float min_score, Scratch& scratch,
                              std::vector<CandidateRescorer::Candidate>& out) const {
  const float min_bound =
      min_score > std::numeric_limits<float>::lowest() ? min_score - rounding_of(min_score) : -INFINITY;
  float* z = scratch.z.data();
  take(min_bound, scratch, [&](std::size_t n) {
    out.push_back({static_cast<std::uint32_t>(n), z[n] + rounding_of(z[n])});
    z[n] = -INFINITY;
    return min_bound;
  });
}

std::size_t SampleBounds::bytes() const {
  return q_.bytes() + exponents_.size();
}

}  // namespace slide
