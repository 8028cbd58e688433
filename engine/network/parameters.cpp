#include "engine/network/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/finite.h"
#include "engine/base/parallel.h"
#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {

// Words of a row of bfloat16 pairs, a whole number of cache lines.
std::size_t pair_stride_for(std::size_t columns) {
  return round_up(columns, kernels::kPairGroup) / 2;
}

}  // namespace

std::size_t Parameters::stride_of(std::size_t column_count) {
  return column_count == 1 ? 1 : round_up(column_count, kernels::kLaneMultiple);
}

Parameters::Parameters(std::size_t row_count, std::size_t column_count, Precision precision)
    : rows(row_count),
      columns(column_count),
      all_rows(row_count),
      stride(stride_of(column_count)),
      weights(precision == Precision::kFp32 ? rows * stride : 0),
      pair_stride(precision == Precision::kBf16 ? pair_stride_for(columns) : 0),
      pairs(rows * pair_stride) {}

void Parameters::hold_int8() {
  weights = {};
  pairs = {};
  pair_stride = 0;
  byte_stride = round_up(columns, kernels::kPairGroup);
  q = AlignedArray<std::int8_t>(rows * byte_stride);
  exponents = AlignedArray<std::int8_t>(rows);
}

std::size_t Parameters::bytes_of(std::size_t row_count, std::size_t column_count, Precision precision) {
  const bool wide = precision == Precision::kFp32;
  return row_count * (wide ? stride_of(column_count) * sizeof(float)
                           : pair_stride_for(column_count) * sizeof(std::uint32_t));
}

// Uniform in [-sqrt(3) scale, sqrt(3) scale), from 32 random bits a weight: two weights a random number.
void Parameters::fill_uniform(double scale, std::uint64_t seed, std::uint64_t item, int threads,
                              std::span<const std::size_t> ends) {
  const std::size_t row_bytes = is_bf16() ? pair_stride * sizeof(std::uint32_t) : stride * sizeof(float);
  const std::size_t each = std::max<std::size_t>(1, kLargePage / std::max<std::size_t>(1, row_bytes));
  const std::size_t pages = (rows + each - 1) / each;
  const auto width = static_cast<float>(2.0 * std::sqrt(3.0) * scale * 0x1.0p-32);
  const auto low = static_cast<float>(-std::sqrt(3.0) * scale);
  const auto fill = [&](std::size_t page) {
    std::vector<float> scratch(is_bf16() ? columns : 0);
    for (std::size_t r = page * each; r < std::min(rows, (page + 1) * each); ++r) {
      Rng rng(seed, Purpose::kWeights, first + r, item);
      float* w = is_bf16() ? scratch.data() : row(r);
      std::size_t c = 0;
      for (; c + 2 <= columns; c += 2) {
        const std::uint64_t bits = rng.next();
        w[c] = low + width * static_cast<float>(static_cast<std::uint32_t>(bits));
        w[c + 1] = low + width * static_cast<float>(static_cast<std::uint32_t>(bits >> 32));
      }
      if (c < columns) w[c] = low + width * static_cast<float>(static_cast<std::uint32_t>(rng.next()));
      if (is_bf16()) {
        kernels::active().narrow(w, columns, static_cast<std::uint32_t>(rng.next()), pair_row(r));
      }
    }
  };
  if (ends.empty()) return parallel_in_turns(pages, threads, fill);
  std::vector<std::size_t> page_ends;
  for (const std::size_t end : ends) page_ends.push_back(std::min(pages, (end + each / 2) / each));
  page_ends.back() = pages;
  parallel_owned(page_ends, threads, fill);
}

void Parameters::load_row(std::size_t r, float* x) const {
  if (is_int8()) {
    kernels::active().widen_int8(int8_rows(), r, columns, x);
  } else if (is_bf16()) {
    kernels::active().widen(pair_row(r), columns, x);
  } else {
    std::copy_n(row(r), columns, x);
  }
}

void Parameters::store_row(std::size_t r, const float* x) {
  if (is_bf16()) {
    kernels::active().narrow_nearest(x, columns, pair_row(r));
  } else {
    std::copy_n(x, columns, row(r));
  }
}

namespace {

[[noreturn]] void refuse_value(const ByteReader& in, std::string_view name, std::size_t row,
                               std::size_t column) {
  in.refuse(fmt::format("{}, row {}, column {}: no finite number", name, row, column));
}

}  // namespace

void get_finite_rows(ByteReader& in, std::string_view name, std::size_t row, std::size_t stride,
                     std::span<float> values) {
  const std::size_t bad = get_finite(in, values);
  if (bad < values.size()) refuse_value(in, name, row + bad / stride, bad % stride);
}

// Without padding in the file, rows are read one by one to their places.
void Parameters::get(ByteReader& in, std::string_view name, bool padded) {
  if (is_bf16()) {
    const std::size_t bad = get_finite_pairs(in, pairs.span()), r = bad / pair_stride;
    if (bad == pairs.size()) return;
    std::size_t column = 0;
    while (std::isfinite(kernels::pair_value(pair_row(r), column))) ++column;
    refuse_value(in, name, r, column);
  }
  if (padded || stride == columns) {
    get_finite_rows(in, name, 0, stride, weights.span());
    return;
  }
  for (std::size_t r = 0; r < rows; ++r)
    get_finite_rows(in, name, r, stride, weights.span().subspan(r * stride, columns));
}

}  // namespace slide
