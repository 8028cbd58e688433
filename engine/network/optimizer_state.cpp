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
      second_stride(second_of(matrix.stride, kind)),
      counts_steps(kind == OptimizerKind::kAdam),
      first(matrix.rows * first_stride),
      second(matrix.rows * second_stride),
      steps(counts_steps ? matrix.rows : 0) {}

std::size_t MatrixState::bytes_of(std::size_t rows, std::size_t columns, OptimizerKind kind) {
  const std::size_t stride = Parameters::stride_of(columns);
  const std::size_t steps = kind == OptimizerKind::kAdam ? sizeof(std::uint32_t) : 0;
  return rows * ((first_of(stride, kind) + second_of(stride, kind)) * sizeof(float) + steps);
}

namespace {

// An array of so many entries a row, of the rows here.
template <class T>
void put_rows(const Parameters& matrix, const AlignedArray<T>& values, std::size_t each, ByteWriter& out) {
  out.put<std::uint64_t>(matrix.all_rows * each);
  if (matrix.shared) out.share(values.size() * sizeof(T));
  out.put_values(values);
}

// Calls get() at the rows of `matrix` in a stored array of all rows (`each` values a row); skips the others.
template <class T, class Get>
void get_rows(ByteReader& in, const Parameters& matrix, std::size_t each, Get&& get) {
  in.expect(matrix.all_rows * each, "another matrix");
  in.skip(matrix.first_in_file() * each * sizeof(T));
  get();
  in.skip((matrix.all_rows - matrix.first_in_file() - matrix.rows) * each * sizeof(T));
}

}  // namespace

void save_matrix(const Parameters& matrix, const MatrixState& state, ByteWriter& out) {
  out.put<std::uint64_t>(matrix.all_rows);
  out.put<std::uint64_t>(matrix.columns);
  put_rows(matrix, matrix.weights, matrix.is_bf16() ? 0 : matrix.stride, out);
  put_rows(matrix, state.first, state.first_stride, out);
  put_rows(matrix, state.second, state.second_stride, out);
  put_rows(matrix, matrix.pairs, matrix.pair_stride, out);
  put_rows(matrix, state.steps, state.counts_steps ? 1 : 0, out);
}

// In the order of save_matrix(): fp32 weights, two state arrays, bfloat16 weights, step counts. Arrays that
// the precision or the optimizer does not use are empty.
void load_matrix(ByteReader& in, std::string_view name, Parameters& matrix, MatrixState& state) {
  in.expect(matrix.all_rows, "another matrix");
  in.expect(matrix.columns, "another matrix");
  const auto get_weights = [&] { matrix.get(in, name, true); };
  const auto get_state = [&](AlignedArray<float>& values, std::size_t stride) {
    get_rows<float>(in, matrix, stride, [&] {
      get_finite_rows(in, fmt::format("optimizer state of the {}", name), 0, std::max<std::size_t>(stride, 1),
                      values.span());
    });
  };
  get_rows<float>(in, matrix, matrix.is_bf16() ? 0 : matrix.stride, [&] {
    if (!matrix.is_bf16()) get_weights();
  });
  get_state(state.first, state.first_stride);
  get_state(state.second, state.second_stride);
  get_rows<std::uint32_t>(in, matrix, matrix.pair_stride, [&] {
    if (matrix.is_bf16()) get_weights();
  });
  get_rows<std::uint32_t>(in, matrix, state.counts_steps ? 1 : 0, [&] { in.get_values(state.steps); });
}

std::size_t OptimizerState::bytes() const {
  std::size_t bytes = wide.size() * sizeof(float);
  for (const MatrixState& matrix : matrices) bytes += matrix.bytes();
  return bytes;
}

}  // namespace slide
