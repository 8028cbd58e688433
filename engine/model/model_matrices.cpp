#include "engine/model/model_matrices.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kernels/kernels.h"
#include "engine/model/int8_rows.h"
#include "engine/model/model_checks.h"

namespace slide {

namespace {

// Calls use(span) for the stored parts of a matrix, or of optimizer state of equal shape: everything except
// row padding.
template <class Array, class Use>
void for_each_part(const Parameters& matrix, Array& values, const Use& use) {
  if (values.size() != matrix.rows * matrix.stride || matrix.stride == matrix.columns) {
    use(values.span());
    return;
  }
  for (std::size_t r = 0; r < matrix.rows; ++r) use(values.span().subspan(r * matrix.stride, matrix.columns));
}

// Stored numbers per row of an array with `stride` numbers per row.
std::size_t stored_columns(const Parameters& matrix, std::size_t stride) {
  return stride == matrix.stride ? matrix.columns : stride;
}

void put_rows(ByteWriter& out, const Parameters& matrix, const AlignedArray<float>& values,
              std::size_t stride) {
  if (matrix.shared) out.share(matrix.rows * stored_columns(matrix, stride) * sizeof(float));
  for_each_part(matrix, values, [&](std::span<const float> part) { out.put_values(part); });
}

// Writes one exponent per row, then one byte per weight.
void put_int8(ByteWriter& out, const Parameters& matrix) {
  std::vector<float> row(matrix.columns);
  std::vector<std::int8_t> exponents(matrix.rows), quantized(matrix.columns);
  for (std::size_t r = 0; r < matrix.rows; ++r) {
    matrix.load_row(r, row.data());
    exponents[r] = static_cast<std::int8_t>(int8_exponent(row));
  }
  out.put_values(exponents);
  for (std::size_t r = 0; r < matrix.rows; ++r) {
    matrix.load_row(r, row.data());
    to_int8(row, exponents[r], quantized.data());
    out.put_values(quantized);
  }
}

// Writes other weights as bfloat16.
void put_narrow(ByteWriter& out, const Parameters& matrix) {
  Parameters narrow(1, matrix.columns, Precision::kBf16);
  std::vector<float> row(matrix.columns);
  for (std::size_t r = 0; r < matrix.rows; ++r) {
    matrix.load_row(r, row.data());
    narrow.store_row(0, row.data());
    out.put_values(narrow.pairs);
  }
}

// `form`: kPlain for biases.
void put_weights(ByteWriter& out, const Parameters& matrix, ModelForm form) {
  out.put<std::uint64_t>(matrix.all_rows);
  out.put<std::uint64_t>(matrix.columns);
  if (form == ModelForm::kInt8) return put_int8(out, matrix);
  if (matrix.is_int8() || (form == ModelForm::kBf16 && !matrix.is_bf16())) return put_narrow(out, matrix);
  if (!matrix.is_bf16()) return put_rows(out, matrix, matrix.weights, matrix.stride);
  if (matrix.shared) out.share(matrix.pairs.bytes());
  out.put_values(matrix.pairs);
}

// Reads exponents [all rows], then weights [all rows x columns]; skips the rows of other shards.
void get_int8(ByteReader& in, std::string_view name, Parameters& matrix) {
  const std::size_t behind = matrix.all_rows - matrix.first_in_file() - matrix.rows;
  matrix.hold_int8();
  in.skip(matrix.first_in_file());
  in.get_values(matrix.exponents);
  if (!are_int8_exponents(matrix.exponents.span()))
    in.refuse(fmt::format("{}: steps of rows that cannot be", name));
  in.skip(behind + matrix.first_in_file() * matrix.columns);
  for (std::size_t r = 0; r < matrix.rows; ++r)
    in.get_values(matrix.q.data() + r * matrix.byte_stride, matrix.columns);
  in.skip(behind * matrix.columns);
}

// Reads the own rows [rows x columns] and skips those of other shards.
void get_weights(ByteReader& in, std::string_view name, ModelForm form, Parameters& matrix) {
  const std::size_t row =
      matrix.is_bf16() ? matrix.pair_stride * sizeof(std::uint32_t) : matrix.columns * sizeof(float);
  in.expect(matrix.all_rows, "a matrix of another size");
  in.expect(matrix.columns, "a matrix of another size");
  if (form == ModelForm::kInt8) return get_int8(in, name, matrix);
  in.skip(matrix.first_in_file() * row);
  matrix.get(in, name, false);
  in.skip((matrix.all_rows - matrix.first_in_file() - matrix.rows) * row);
}

// First moments, second moments, step counts; an array that the optimizer lacks is empty.
void put_state(ByteWriter& out, const Parameters& matrix, const MatrixState& state) {
  const auto put = [&](const AlignedArray<float>& array, std::size_t stride) {
    out.put<std::uint64_t>(matrix.all_rows * stored_columns(matrix, stride));
    put_rows(out, matrix, array, stride);
  };
  put(state.first, state.first_stride);
  put(state.second, state.second_stride);
  out.put<std::uint64_t>(state.counts_steps ? matrix.all_rows : 0);
  if (matrix.shared) out.share(state.steps.bytes());
  out.put_values(state.steps);
}

// First moments, second moments, step counts; an array that the optimizer lacks is empty.
void get_state(ByteReader& in, std::string_view name, const Parameters& matrix, MatrixState& state) {
  constexpr const char* kWhat = "optimizer state of another size";
  const std::string state_name = fmt::format("optimizer state of the {}", name);
  const auto get = [&](AlignedArray<float>& array, std::size_t stride) {
    in.expect(matrix.rows * stored_columns(matrix, stride), kWhat);
    std::size_t row = 0;
    for_each_part(matrix, array, [&](std::span<float> part) {
      get_finite_rows(in, state_name, row++, std::max<std::size_t>(stride, 1), part);
    });
  };
  get(state.first, state.first_stride);
  get(state.second, state.second_stride);
  in.get_array(state.steps.data(), state.steps.size(), kWhat);
}

void skip_state(ByteReader& in) {
  for (int array = 0; array < 3; ++array)
    in.skip(sizeof(float) * in.get_count(sizeof(float), "optimizer state beyond its length"));
}

// Matrices alternate between weights and biases; biases are always floats.
ModelForm form_of(std::size_t matrix, ModelForm form) {
  return matrix % 2 == 0 ? form : ModelForm::kPlain;
}

}  // namespace

void put_matrices(ByteWriter& out, const Network& network, const OptimizerState* state, ModelForm form) {
  const std::vector<const Parameters*> matrices = network.matrices();
  for (std::size_t m = 0; m < matrices.size(); ++m) {
    put_weights(out, *matrices[m], form_of(m, form));
    if (state != nullptr) put_state(out, *matrices[m], state->matrices[m]);
  }
}

// Each matrix: its weights, then its optimizer state where the file has one.
std::uint64_t get_matrices(ByteReader& in, StoredState stored, ModelForm form, Network& network,
                           OptimizerState& state) {
  std::uint64_t state_bytes = 0;
  const std::vector<Parameters*> matrices = network.matrices();
  for (std::size_t m = 0; m < matrices.size(); ++m) {
    const std::string name = Network::matrix_name(m);
    get_weights(in, name, form_of(m, form), *matrices[m]);
    const std::uint64_t left = in.left();
    if (stored == StoredState::kSkip) skip_state(in);
    if (stored == StoredState::kRead) {
      const OptimizerKind kind = network.config().optimizer.kind;
      MatrixState& own = state.matrices.emplace_back(*matrices[m], kind);
      get_state(in, name, *matrices[m], own);
      check_state(own, kind, in);
    }
    state_bytes += left - in.left();
  }
  return state_bytes;
}

}  // namespace slide
