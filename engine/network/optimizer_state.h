// State of an optimizer between steps (accumulators, moments): of one matrix, and of a network. Exists in
// training only.
//
// Thread safety: threads may access different rows at the same time.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/byte_io.h"
#include "engine/base/prefetch.h"
#include "engine/network/parameters.h"

namespace slide {

struct MatrixState {
  MatrixState() = default;
  // Zeros, for `matrix` under `kind`.
  MatrixState(const Parameters& matrix, OptimizerKind kind);

  std::size_t first_stride = 0;  // adagrad: 1 (one number per row); momentum, adam: stride of the matrix
  std::size_t second_stride = 0;
  bool counts_steps = false;
  AlignedArray<float> first;   // momentum: velocity; adam: m [rows x first_stride]; adagrad: sum of squares
  AlignedArray<float> second;  // adam: v [rows x stride]
  AlignedArray<std::uint32_t> steps;  // adam: updates of each row [rows]

  // Prefetches the state of row r where it is one number; longer state streams from memory.
  void prefetch_row(std::size_t r) const {
    if (first_stride == 1) prefetch<Access::kWrite>(first.data() + r);
  }
  std::size_t bytes() const { return first.bytes() + second.bytes() + steps.bytes(); }
  // bytes() of MatrixState(Parameters(rows, columns), kind).
  static std::size_t bytes_of(std::size_t rows, std::size_t columns, OptimizerKind kind);
};

// A matrix and its state in a checkpoint. load_matrix() throws InputError for content of another shape and,
// with `name` and position, for numbers that are not finite.
void save_matrix(const Parameters& matrix, const MatrixState& state, ByteWriter& out);
void load_matrix(ByteReader& in, std::string_view name, Parameters& matrix, MatrixState& state);

struct OptimizerState {
  std::vector<MatrixState> matrices;  // in the order of Network::matrices()
  AlignedArray<float> wide;           // Adagrad accumulators of the linear term, minus their initial 1

  std::size_t bytes() const;
};

}  // namespace slide
