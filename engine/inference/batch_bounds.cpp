#include "engine/inference/batch_bounds.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/base/parallel.h"
#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {

constexpr double kFloatError = 0x1p-22;      // error per column of two float sums, relative to the lengths
constexpr float kUp = 1.001f;                // margin for lengths, which are float sums
constexpr float kMinActivation = 0x1p-100f;  // activations below this in all units count as 0

}  // namespace

BatchBounds::Form BatchBounds::fastest(const Layer& output) {
  if (kernels::active().fast_int8 && output.inputs() <= kernels::kMaxInt8Columns) return Form::kInt8;
  return kernels::active().fast_bf16 && output.weights().is_fp32() ? Form::kBf16 : Form::kFloat;
}

// Measures lengths and biases per group of neurons, then rounds the rows to keep.
BatchBounds::BatchBounds(const Layer& output, std::span<const std::uint32_t> ids, std::size_t kept, Form form,
                         std::size_t group, int threads)
    : output_(output),
      ids_(ids),
      form_(form),
      stride_(round_up(output.inputs(), kernels::kPairGroup)),
      kept_rows_(kept) {
  const std::size_t rows = ids.size(), groups = (rows + group - 1) / group;
  errors_.resize(groups);
  lengths_.resize(groups);
  biases_.resize(groups);
  parallel_for(groups, threads, [&](std::size_t g, int) {
    const std::size_t end = std::min(rows, (g + 1) * group);
    measure_rows(g * group, end, errors_[g], lengths_[g]);
    biases_[g] = -INFINITY;
    for (std::size_t r = g * group; r < end; ++r)
      biases_[g] = std::max(biases_[g], *output_.bias().row(ids_[r]));
  });
  for (std::size_t g = 0; g < groups; ++g) {
    const double longest = double{lengths_[g]} + double{errors_[g]};
    longest_ = std::isfinite(longest) ? std::max(longest_, longest) : INFINITY;
  }
  if (!bounded()) return;
  kept_ = make_rows(kept);
  parallel_for((kept + group - 1) / group, threads, [&](std::size_t g, int) {
    std::vector<float> row(stride_);
    for (std::size_t r = g * group; r < std::min(kept, (g + 1) * group); ++r) {
      round_row(r, r, kept_, row);
      if (form_ == Form::kInt8) kept_.corrections[r] = correction_of(r, kept_);
    }
  });
}

// Max lengths over some rows: of the rounding errors (upper bound), and of the rounded rows.
void BatchBounds::measure_rows(std::size_t first, std::size_t end, float& error, float& length) const {
  const auto& k = kernels::active();
  const std::size_t n = columns();
  std::vector<float> row(n), rounded(n);
  std::vector<std::uint32_t> pairs(stride_ / 2);
  std::vector<std::int8_t> q(stride_);
  float error2 = 0.0F, length2 = 0.0F;
  for (std::size_t r = first; r < end; ++r) {
    output_.weights().load_row(ids_[r], row.data());
    // Negated comparisons keep NaN.
    const float row2 = k.dot(row.data(), row.data(), n);
    if (!(row2 <= length2)) length2 = row2;
    if (!std::isfinite(length2)) break;
    if (form_ == Form::kFloat) continue;
    if (form_ == Form::kBf16) {
      k.narrow_nearest(row.data(), n, pairs.data());
      k.widen(pairs.data(), n, rounded.data());
    } else {
      const auto exponent = static_cast<std::int8_t>(k.narrow_int8(row.data(), n, q.data()));
      k.widen_int8({q.data(), stride_, &exponent}, 0, n, rounded.data());
    }
    k.axpy(-1.0F, row.data(), n, rounded.data());
    const float rounded2 = k.dot(rounded.data(), rounded.data(), n);
    if (!(rounded2 <= error2)) error2 = rounded2;
  }
  error = kUp * std::sqrt(error2);
  length = kUp * std::sqrt(length2) + error;
  error += static_cast<float>(kFloatError * static_cast<double>(n)) * length;
}

bool BatchBounds::bounded() const {
  return std::isfinite(longest_) && (form_ != Form::kInt8 || columns() <= kernels::kMaxInt8Columns);
}

BatchBounds::RoundedRows BatchBounds::make_rows(std::size_t count) const {
  RoundedRows rows;
  if (form_ == Form::kBf16) {
    rows.pairs = AlignedArray<std::uint32_t>(count * stride_ / 2);
  } else if (form_ == Form::kInt8) {
    rows.q = AlignedArray<std::int8_t>(count * stride_);
    rows.exponents = AlignedArray<std::int8_t>(count);
    rows.corrections.resize(count);
  }
  rows.biases.resize(count);
  return rows;
}

// Rounds the row of a neuron into place `place` of `rows`; correction_of() computes its correction. `row`:
// buffer [stride_].
void BatchBounds::round_row(std::size_t neuron, std::size_t place, RoundedRows& rows,
                            std::vector<float>& row) const {
  const auto& k = kernels::active();
  const Parameters& weights = output_.weights();
  const std::uint32_t id = ids_[neuron];
  rows.biases[place] = *output_.bias().row(id);
  if (form_ == Form::kBf16) {
    k.narrow_nearest(weights.row(id), columns(), rows.pairs.data() + place * stride_ / 2);
  } else if (form_ == Form::kInt8) {
    const float* from = weights.is_fp32() ? weights.row(id) : row.data();
    if (!weights.is_fp32()) weights.load_row(id, row.data());
    rows.exponents[place] =
        static_cast<std::int8_t>(k.narrow_int8(from, columns(), rows.q.data() + place * stride_));
  }
}

// The correction of a row for activations that are stored with 128 added: -128 times the sum of its numbers.
std::int32_t BatchBounds::correction_of(std::size_t place, const RoundedRows& rows) const {
  const std::int8_t* q = rows.q.data() + place * stride_;
  return -128 * std::accumulate(q, q + stride_, 0);
}

BatchBounds::Reach BatchBounds::reach(std::size_t first_group, std::size_t groups) const {
  Reach reach{0.0F, -INFINITY};
  for (std::size_t g = first_group; g < first_group + groups; ++g) {
    reach.length = std::max(reach.length, lengths_[g] + errors_[g]);
    reach.bias = std::max(reach.bias, biases_[g]);
  }
  return reach;
}

std::size_t BatchBounds::bytes() const {
  return (errors_.size() + lengths_.size() + biases_.size() + kept_.biases.size()) * sizeof(float) +
         kept_.pairs.size() * sizeof(std::uint32_t) + kept_.q.size() + kept_.exponents.size() +
         kept_.corrections.size() * sizeof(std::int32_t);
}

double BatchBounds::bytes_of(std::size_t neurons, std::size_t kept, std::size_t inputs, std::size_t group) {
  const std::size_t groups = (neurons + group - 1) / group;
  const double row = 2.0 * double(round_up(inputs, kernels::kPairGroup)) + sizeof(float);  // as bfloat16
  return double(kept) * row + 3.0 * sizeof(float) * double(groups);
}

BatchBounds::Scratch BatchBounds::make_scratch(std::size_t neurons, std::size_t samples) const {
  Scratch scratch;
  if (kept_rows_ < ids_.size()) scratch.rows = make_rows(neurons);
  if (form_ == Form::kInt8) {
    scratch.words = AlignedArray<std::uint32_t>(samples * stride_ / 4);
    scratch.steps = AlignedArray<float>(samples);
  }
  scratch.numbers.resize(neurons);
  std::iota(scratch.numbers.begin(), scratch.numbers.end(), 0U);
  scratch.row.resize(stride_);
  scratch.error.resize(stride_);
  scratch.lengths.resize(samples);
  scratch.error_lengths.resize(samples);
  scratch.is_signed.resize(samples);
  return scratch;
}

// Computes what the error bound |w - w'| |x| + |w'| |x - x'| needs of each sample x, rounded to x': lengths
// of x and of x - x', and for kInt8 also x' itself.
void BatchBounds::begin_block(const BlockInput& in, std::size_t first, Scratch& scratch) const {
  const auto& k = kernels::active();
  bool below_zero = false;
  for (std::size_t s = 0; s < in.samples; ++s) {
    const float* x = in.x + s * in.ldx;
    below_zero = below_zero || *std::min_element(x, x + in.width) < 0.0F;
  }
  for (std::size_t s = 0; s < in.lanes; ++s) scratch.is_signed[first + s] = below_zero;
  for (std::size_t s = 0; s < in.samples; ++s) {
    std::copy_n(in.x + s * in.ldx, in.width, scratch.row.data());
    // Exact scores use activations rounded to bfloat16.
    if (!output_.weights().is_fp32())
      std::transform(scratch.row.begin(), scratch.row.end(), scratch.row.begin(), kernels::nearest_bf16);
    const float* x = scratch.row.data();
    const float length = kUp * std::sqrt(k.dot(x, x, in.width));
    scratch.lengths[first + s] = length;
    scratch.error_lengths[first + s] = 0.0F;
    if (form_ == Form::kFloat || !bounds(first + s, scratch)) continue;
    if (form_ == Form::kBf16) {
      std::transform(x, x + in.width, scratch.error.begin(),
                     [](float one) { return one - kernels::nearest_bf16(one); });
    } else {
      round_sample(x, below_zero, s, first, in.lanes, scratch);
    }
    scratch.error_lengths[first + s] =
        kUp * std::sqrt(k.dot(scratch.error.data(), scratch.error.data(), in.width));
  }
}

// Rounds the activations x of sample s of a block to bytes: x[c] ~ step * (byte[c] - zero), zero = 128 where
// the block has negative activations, else 0. Writes them to scratch.words [columns / 4 x lanes], four
// successive columns a word, the first in the lowest byte, and x less its rounded value to scratch.error. The
// block begins with sample `first` of the batch.
void BatchBounds::round_sample(const float* x, bool below_zero, std::size_t s, std::size_t first,
                               std::size_t lanes, Scratch& scratch) const {
  const std::size_t n = columns();
  float largest = 0.0F;
  for (std::size_t c = 0; c < n; ++c) largest = std::max(largest, std::fabs(x[c]));
  const float max_code = below_zero ? 127.0F : 255.0F, zero = below_zero ? 128.0F : 0.0F;
  const float factor = largest < kMinActivation ? 0.0F : max_code / largest;
  const float step = largest < kMinActivation ? 0.0F : largest / max_code;
  scratch.steps[first + s] = step;
  std::uint32_t* words = scratch.words.data() + first * stride_ / 4 + s;
  for (std::size_t c = 0; c < stride_; c += 4) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const float one = c + i < n ? x[c + i] : 0.0F;
      const auto byte = static_cast<std::int32_t>(std::min(one * factor + (zero + 0.5F), 255.0F));
      word |= static_cast<std::uint32_t>(byte) << (8 * i);
      scratch.error[c + i] = one - step * (static_cast<float>(byte) - zero);
    }
    words[c / 4 * lanes] = word;
  }
}

// Rounds the rows that have no kept copy. They lie anywhere in memory, so that rows ahead are prefetched.
void BatchBounds::load(std::size_t first, std::size_t count, Scratch& scratch) const {
  scratch.first = first;
  scratch.count = count;
  if (first < kept_rows_) return;
  constexpr std::size_t kAhead = 8;  // rows
  const bool below_zero = std::ranges::find(scratch.is_signed, true) != scratch.is_signed.end();
  for (std::size_t a = 0; a < count; ++a) {
    if (first + a + kAhead < ids_.size()) output_.weights().prefetch_row(ids_[first + a + kAhead]);
    round_row(first + a, a, scratch.rows, scratch.row);
    if (form_ == Form::kInt8 && below_zero) scratch.rows.corrections[a] = correction_of(a, scratch.rows);
  }
}

// z [loaded neurons x lanes] = rounded row . rounded activations + bias; exact products for kFloat.
void BatchBounds::score(const BlockInput& in, std::size_t first, LayerScratch& layer, Scratch& scratch,
                        float* z) const {
  const auto& k = kernels::active();
  const bool is_kept = scratch.first < kept_rows_;
  const RoundedRows& rows = is_kept ? kept_ : scratch.rows;
  const std::size_t place = is_kept ? scratch.first : 0;  // of the first loaded neuron
  if (form_ == Form::kFloat) {
    BlockInput hidden = in;
    hidden.features = nullptr;
    output_.score({&hidden, 1}, ids_.subspan(scratch.first, scratch.count), layer, z);
  } else if (form_ == Form::kBf16) {
    k.rows_forward_bf16(rows.pairs.data() + place * stride_ / 2, stride_ / 2, scratch.numbers.data(),
                        scratch.count, rows.biases.data() + place, in.xt, in.width, in.lanes, z);
  } else {
    k.rows_forward_int8(
        {rows.q.data() + place * stride_, stride_, rows.exponents.data() + place}, scratch.count,
        scratch.is_signed[first] ? rows.corrections.data() + place : nullptr, rows.biases.data() + place,
        {scratch.words.data() + first * stride_ / 4, scratch.steps.data() + first, stride_, in.lanes}, z);
  }
}

}  // namespace slide
