// What an optimizer remembers from step to step: of a matrix, and of all matrices of a network. It belongs to
// training; a network that only predicts has none.
//
// Not synchronised: different threads may work on different rows.
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

  std::size_t first_stride = 0;  // adagrad: 1, a number for each row; momentum, adam: that of the matrix
  std::size_t second_stride = 0;
  bool counts_steps = false;
  AlignedArray<float> first;   // momentum: velocity; adam: m [rows x first_stride]; adagrad: sum of squares
  AlignedArray<float> second;  // adam: v [rows x stride]
  AlignedArray<std::uint32_t> steps;  // adam: updates of each row [rows]

  // Asks for the one number that row r has, before an update.
  void prefetch_row(std::size_t r) const {
    if (first_stride == 1) prefetch<Access::kWrite>(first.data() + r);
  }
  std::size_t bytes() const { return first.bytes() + second.bytes() + steps.bytes(); }
  // Of MatrixState(Parameters(rows, columns), kind).
  static std::size_t bytes_of(std::size_t rows, std::size_t columns, OptimizerKind kind);
};

// A matrix and its state, as a checkpoint holds them. load_matrix() refuses those of another matrix
// and, by `name` and place, numbers that are not finite.
void save_matrix(const Parameters& matrix, const MatrixState& state, ByteWriter& out);
void load_matrix(ByteReader& in, std::string_view name, Parameters& matrix, MatrixState& state);

struct OptimizerState {
  std::vector<MatrixState> matrices;  // in the order of Network::matrices()
  AlignedArray<float> wide;           // of the wide path's weights: sums of squares, less the 1 they start at

  std::size_t bytes() const;
};

}  // namespace slide
