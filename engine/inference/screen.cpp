#include "engine/inference/screen.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {
// What float sums of the rough and the exact score may differ by, relative to the largest of them.
constexpr double kRounding = 1e-4;
}  // namespace

Screen::Screen(const Layer& output, const WidePostings* wide)
    : output_(output),
      wide_(wide),
      stride_(round_up(output.inputs(), kernels::kPairGroup) / 2),
      pairs_(output.weights().is_fp32() ? output.size() * stride_ : 0) {
  if (output.weights().is_fp32()) copy_weights();
}

void Screen::copy_weights() {
  std::vector<float> row(output_.inputs());
  for (std::size_t r = 0; r < output_.size(); ++r) {
    output_.weights().load_row(r, row.data());
    std::uint32_t* to = pairs_.data() + r * stride_;
    double square = 0.0;
    kernels::active().narrow_nearest(row.data(), row.size(), to);
    for (std::size_t c = 0; c < row.size(); ++c) {
      const double error = double{row[c]} - double{kernels::pair_value(to, c)};
      square += error * error;
    }
    worst_ = std::max(worst_, std::sqrt(square));
  }
}

Screen::Scratch Screen::make_scratch() const {
  return {AlignedArray<float>(stride_ * 2), AlignedArray<float>(output_.size()), {}};
}

void Screen::find(const BlockInput& in, const SparseRow& row, std::size_t k, Scratch& scratch,
                  std::vector<std::uint32_t>& out) const {
  const std::size_t neurons = output_.size();
  std::copy_n(in.xt, in.width, scratch.x.data());
  const Parameters& weights = output_.weights();
  if (!weights.is_fp32()) {  // exact scores are those of rounded activations
    for (float& x : scratch.x) x = kernels::nearest_bf16(x);
  }
  float* z = scratch.z.data();
  std::copy_n(output_.bias().row(0), neurons, z);
  if (weights.is_int8()) {
    kernels::active().add_dots_int8(weights.int8_rows(), output_.all_neurons().data(), neurons,
                                    scratch.x.data(), stride_ * 2, z);
  } else {
    const std::uint32_t* pairs = weights.is_bf16() ? weights.pair_row(0) : pairs_.data();
    kernels::active().add_dots_bf16(pairs, stride_, neurons, scratch.x.data(), stride_ * 2, z);
  }
  if (wide_ != nullptr) wide_->add(row, z);
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
  return pairs_.bytes();
}

}  // namespace slide
