#include "engine/parameters.h"

#include <algorithm>
#include <cmath>

#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {

std::size_t stride_for(std::size_t columns) {
  return columns == 1 ? 1 : round_up(columns, kernels::kLaneMultiple);
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

Parameters::Parameters(std::size_t row_count, std::size_t column_count, OptimizerKind kind)
    : rows(row_count),
      columns(column_count),
      stride(stride_for(column_count)),
      weights(rows * stride),
      first(first_size(rows, stride, kind)),
      second(second_size(rows, stride, kind)),
      steps(kind == OptimizerKind::kAdam ? rows : 0) {}

void Parameters::fill_uniform(double scale, std::uint64_t seed, std::uint64_t item, int threads) {
  constexpr std::size_t kChunk = 256;
  const auto width = static_cast<float>(2.0 * std::sqrt(3.0) * scale * 0x1.0p-32);
  const auto low = static_cast<float>(-std::sqrt(3.0) * scale);
  parallel_for((rows + kChunk - 1) / kChunk, threads, [&](std::size_t chunk, int) {
    for (std::size_t r = chunk * kChunk; r < std::min(rows, (chunk + 1) * kChunk); ++r) {
      Rng rng(seed, Purpose::kWeights, r, item);
      float* w = row(r);
      std::size_t c = 0;
      for (; c + 2 <= columns; c += 2) {
        const std::uint64_t bits = rng.next();
        w[c] = low + width * static_cast<float>(static_cast<std::uint32_t>(bits));
        w[c + 1] = low + width * static_cast<float>(static_cast<std::uint32_t>(bits >> 32));
      }
      if (c < columns) w[c] = low + width * static_cast<float>(static_cast<std::uint32_t>(rng.next()));
    }
  });
}

std::size_t parameter_bytes(std::size_t rows, std::size_t columns, OptimizerKind kind) {
  const std::size_t stride = stride_for(columns);
  const std::size_t floats = rows * stride + first_size(rows, stride, kind) + second_size(rows, stride, kind);
  return floats * sizeof(float) + (kind == OptimizerKind::kAdam ? rows * sizeof(std::uint32_t) : 0);
}

}  // namespace slide
