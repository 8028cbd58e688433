#include "engine/network/optimizer_state.h"

namespace slide {

namespace {

// Floats a row of the first and of the second array.
std::size_t first_of(std::size_t stride, OptimizerKind kind) {
  if (kind == OptimizerKind::kSgd) return 0;
  return kind == OptimizerKind::kAdagrad ? 1 : stride;
}
std::size_t second_of(std::size_t stride, OptimizerKind kind) {
  return kind == OptimizerKind::kAdam ? stride : 0;
}

}  // namespace

MatrixState::MatrixState(const Parameters& matrix, OptimizerKind kind)
    : first_stride(first_of(matrix.stride, kind)),
      first(matrix.rows * first_stride),
      second(matrix.rows * second_of(matrix.stride, kind)),
      steps(kind == OptimizerKind::kAdam ? matrix.rows : 0) {}

std::size_t MatrixState::bytes_of(std::size_t rows, std::size_t columns, OptimizerKind kind) {
  const std::size_t stride = Parameters::stride_of(columns);
  const std::size_t steps = kind == OptimizerKind::kAdam ? sizeof(std::uint32_t) : 0;
  return rows * ((first_of(stride, kind) + second_of(stride, kind)) * sizeof(float) + steps);
}

void save_matrix(const Parameters& matrix, const MatrixState& state, ByteWriter& out) {
  out.put<std::uint64_t>(matrix.rows);
  out.put<std::uint64_t>(matrix.columns);
  for (const auto* array : {&matrix.weights, &state.first, &state.second})
    out.put_array(array->data(), array->size());
  for (const auto* array : {&matrix.pairs, &state.steps}) out.put_array(array->data(), array->size());
}

void load_matrix(ByteReader& in, Parameters& matrix, MatrixState& state) {
  if (in.get<std::uint64_t>() != matrix.rows || in.get<std::uint64_t>() != matrix.columns)
    in.refuse("another matrix");
  for (auto* array : {&matrix.weights, &state.first, &state.second})
    in.get_array(array->data(), array->size(), "another matrix");
  for (auto* array : {&matrix.pairs, &state.steps})
    in.get_array(array->data(), array->size(), "another matrix");
}

std::size_t OptimizerState::bytes() const {
  std::size_t bytes = wide.size() * sizeof(float);
  for (const MatrixState& matrix : matrices) bytes += matrix.bytes();
  return bytes;
}

}  // namespace slide
