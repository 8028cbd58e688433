#include "engine/network/parameters.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {

std::size_t stride_for(std::size_t columns) {
  return columns == 1 ? 1 : round_up(columns, kernels::kLaneMultiple);
}

// Words of a row of bfloat16 pairs, a whole number of cache lines.
std::size_t pair_stride_for(std::size_t columns) {
  return round_up(columns, kernels::kPairGroup) / 2;
}

// Floats of the first and second state arrays.
std::size_t first_size(std::size_t rows, std::size_t stride, OptimizerKind kind) {
  if (kind == OptimizerKind::kSgd) return 0;
  return kind == OptimizerKind::kAdagrad ? rows : rows * stride;
}
std::size_t second_size(std::size_t rows, std::size_t stride, OptimizerKind kind) {
  return kind == OptimizerKind::kAdam ? rows * stride : 0;
}

}  // namespace

Parameters::Parameters(std::size_t row_count, std::size_t column_count, OptimizerKind kind,
                       Precision precision)
    : rows(row_count),
      columns(column_count),
      stride(stride_for(column_count)),
      weights(precision == Precision::kFp32 ? rows * stride : 0),
      pair_stride(precision == Precision::kBf16 ? pair_stride_for(columns) : 0),
      pairs(rows * pair_stride),
      first(first_size(rows, stride, kind)),
      second(second_size(rows, stride, kind)),
      steps(kind == OptimizerKind::kAdam ? rows : 0) {}

void Parameters::fill_uniform(double scale, std::uint64_t seed, std::uint64_t item, int threads) {
  constexpr std::size_t kChunk = 256;
  const auto width = static_cast<float>(2.0 * std::sqrt(3.0) * scale * 0x1.0p-32);
  const auto low = static_cast<float>(-std::sqrt(3.0) * scale);
  parallel_for((rows + kChunk - 1) / kChunk, threads, [&](std::size_t chunk, int) {
    std::vector<float> scratch(half() ? columns : 0);
    for (std::size_t r = chunk * kChunk; r < std::min(rows, (chunk + 1) * kChunk); ++r) {
      Rng rng(seed, Purpose::kWeights, r, item);
      float* w = half() ? scratch.data() : row(r);
      std::size_t c = 0;
      for (; c + 2 <= columns; c += 2) {
        const std::uint64_t bits = rng.next();
        w[c] = low + width * static_cast<float>(static_cast<std::uint32_t>(bits));
        w[c + 1] = low + width * static_cast<float>(static_cast<std::uint32_t>(bits >> 32));
      }
      if (c < columns) w[c] = low + width * static_cast<float>(static_cast<std::uint32_t>(rng.next()));
      if (half()) {
        kernels::active().narrow(w, columns, static_cast<std::uint32_t>(rng.next()), pair_row(r));
      }
    }
  });
}

void Parameters::load_row(std::size_t r, float* x) const {
  if (half()) {
    kernels::active().widen(pair_row(r), columns, x);
  } else {
    std::copy_n(row(r), columns, x);
  }
}

void Parameters::save(ByteWriter& out) const {
  out.put<std::uint64_t>(rows);
  out.put<std::uint64_t>(columns);
  for (const auto* array : {&weights, &first, &second}) out.put_array(array->data(), array->size());
  for (const auto* array : {&pairs, &steps}) out.put_array(array->data(), array->size());
}

void Parameters::load(ByteReader& in) {
  if (in.get<std::uint64_t>() != rows || in.get<std::uint64_t>() != columns) in.refuse("another matrix");
  for (auto* array : {&weights, &first, &second})
    in.get_array(array->data(), array->size(), "another matrix");
  for (auto* array : {&pairs, &steps}) in.get_array(array->data(), array->size(), "another matrix");
}

std::size_t parameter_bytes(std::size_t rows, std::size_t columns, OptimizerKind kind, Precision precision) {
  const std::size_t stride = stride_for(columns);
  const std::size_t row = precision == Precision::kBf16 ? pair_stride_for(columns) : stride;
  const std::size_t floats = rows * row + first_size(rows, stride, kind) + second_size(rows, stride, kind);
  return floats * sizeof(float) + (kind == OptimizerKind::kAdam ? rows * sizeof(std::uint32_t) : 0);
}

}  // namespace slide
