// A matrix of weights with its optimizer state. The row is the unit of everything: it is read, updated and
// saved as a whole, and a layer may own millions of them of which a step touches hundreds.
//
// Not synchronised: different threads may work on different rows.
#pragma once

#include <cstdint>

#include "engine/base/aligned.h"
#include "engine/base/rng.h"
#include "engine/config.h"

namespace slide {

struct Parameters {
  Parameters() = default;
  // Zero weights and state for `kind`. A row has `columns` weights and a stride of a whole number of cache
  // lines; a single column (biases) is stored without padding.
  Parameters(std::size_t row_count, std::size_t column_count, OptimizerKind kind);

  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;
  AlignedArray<float> weights;  // [rows x stride], padding stays zero
  AlignedArray<float> first;    // momentum: velocity; adam: m [rows x stride]; adagrad: accumulator [rows]
  AlignedArray<float> second;   // adam: v [rows x stride]
  AlignedArray<std::uint32_t> steps;  // adam: updates of each row [rows]

  float* row(std::size_t r) { return weights.data() + r * stride; }
  const float* row(std::size_t r) const { return weights.data() + r * stride; }
  std::size_t bytes() const { return weights.bytes() + first.bytes() + second.bytes() + steps.bytes(); }

  // Independent weights, uniform with standard deviation `scale`; row r is drawn from its own stream of
  // (seed, item), whatever the thread count.
  void fill_uniform(double scale, std::uint64_t seed, std::uint64_t item, int threads);
};

// Bytes that Parameters(rows, columns, kind) will take.
std::size_t parameter_bytes(std::size_t rows, std::size_t columns, OptimizerKind kind);

}  // namespace slide
