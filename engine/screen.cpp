#include "engine/screen.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {
// What float sums of the rough and the exact score may differ by, relative to the largest of them.
constexpr double kRounding = 1e-4;

// The nearest value of 16 bits.
std::uint32_t upper_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}
}  // namespace

Screen::Screen(const Layer& output, std::size_t features)
    : output_(output),
      stride_(round_up(output.inputs(), kernels::kPairGroup) / 2),
      pairs_(output.size() * stride_),
      biases_(output.size()) {
  copy_weights();
  for (std::size_t r = 0; r < output.size(); ++r) biases_[r] = *output.bias().row(r);
  if (output.wide() != nullptr) turn_wide(features);
}

void Screen::copy_weights() {
  std::vector<float> row(output_.inputs());
  for (std::size_t r = 0; r < output_.size(); ++r) {
    output_.weights().load_row(r, row.data());
    std::uint32_t* to = pairs_.data() + r * stride_;
    double square = 0.0;
    for (std::size_t c = 0; c < row.size(); ++c) {
      to[kernels::pair_word(c)] |= upper_half(row[c]) << (kernels::in_high_half(c) ? 16 : 0);
      const double error = double{row[c]} - double{kernels::pair_value(to, c)};
      square += error * error;
    }
    worst_ = std::max(worst_, std::sqrt(square));
  }
}

void Screen::turn_wide(std::size_t features) {
  const WidePath::Storage& from = output_.wide()->storage();
  offsets_.assign(features + 2, 0);
  for (const std::uint32_t f : from.features) ++offsets_[f + 2];
  for (std::size_t f = 2; f < offsets_.size(); ++f) offsets_[f] += offsets_[f - 1];
  postings_.resize(from.features.size());
  for (std::uint32_t n = 0; n < output_.size(); ++n) {
    for (std::uint64_t i = from.offsets[n]; i < from.offsets[n + 1]; ++i)
      postings_[offsets_[from.features[i] + 1]++] = {n, from.weights[i]};
  }
  offsets_.pop_back();
}

Screen::Scratch Screen::make_scratch() const {
  return {AlignedArray<float>(stride_ * 2), AlignedArray<float>(output_.size()), {}};
}

void Screen::find(const BlockInput& in, const SparseRow& row, std::size_t k, Scratch& scratch,
                  std::vector<std::uint32_t>& out) const {
  const std::size_t neurons = output_.size();
  std::copy_n(in.xt, in.width, scratch.x.data());
  float* z = scratch.z.data();
  std::copy_n(biases_.data(), neurons, z);
  kernels::active().add_dots_bf16(pairs_.data(), stride_, neurons, scratch.x.data(), stride_ * 2, z);
  for (std::size_t i = 0; !offsets_.empty() && i < row.ids.size(); ++i) {
    const float value = row.values[i];
    for (std::uint64_t p = offsets_[row.ids[i]]; p < offsets_[row.ids[i] + 1]; ++p)
      z[postings_[p].neuron] += value * postings_[p].weight;
  }
  // The k-th best rough score: a heap of the k best, the least of them in front.
  std::vector<float>& best = scratch.best;
  k = std::min(k, neurons);
  best.assign(z, z + k);
  std::make_heap(best.begin(), best.end(), std::greater<>());
  for (std::size_t n = k; n < neurons; ++n) {
    if (z[n] <= best.front()) continue;
    std::pop_heap(best.begin(), best.end(), std::greater<>());
    best.back() = z[n];
    std::push_heap(best.begin(), best.end(), std::greater<>());
  }
  double square = 0.0;
  for (std::size_t i = 0; i < in.width; ++i) square += double{in.xt[i]} * double{in.xt[i]};
  const double largest = std::max(std::fabs(double{best.front()}), 1.0);
  const auto least =
      static_cast<float>(best.front() - 2 * (worst_ * std::sqrt(square) + kRounding * largest));
  for (std::uint32_t n = 0; n < neurons; ++n) {
    if (z[n] >= least) out.push_back(n);
  }
}

std::size_t Screen::bytes() const {
  return pairs_.bytes() + biases_.bytes() + offsets_.size() * sizeof(std::uint64_t) +
         postings_.size() * sizeof(Posting);
}

}  // namespace slide
