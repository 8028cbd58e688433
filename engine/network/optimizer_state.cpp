#include "engine/network/optimizer_state.h"

#include <fmt/format.h>

#include <algorithm>

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

void load_matrix(ByteReader& in, std::string_view name, Parameters& matrix, MatrixState& state) {
  constexpr std::string_view kOther = "another matrix";
  in.expect(matrix.rows, kOther);
  in.expect(matrix.columns, kOther);
  in.expect(matrix.weights.size(), kOther);
  if (!matrix.is_bf16()) matrix.get(in, name, true);
  for (auto* array : {&state.first, &state.second}) {
    in.expect(array->size(), kOther);
    const std::size_t stride = array->size() / std::max<std::size_t>(matrix.rows, 1);
    get_finite_rows(in, fmt::format("optimizer state of the {}", name), 0, stride, array->span());
  }
  in.expect(matrix.pairs.size(), kOther);
  if (matrix.is_bf16()) matrix.get(in, name, true);
  in.get_array(state.steps.data(), state.steps.size(), kOther);
}

std::size_t OptimizerState::bytes() const {
  std::size_t bytes = wide.size() * sizeof(float);
  for (const MatrixState& matrix : matrices) bytes += matrix.bytes();
  return bytes;
}

}  // namespace slide
