#include "engine/run/model_matrices.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slide {

namespace {

// Calls use(span) for the parts of a matrix, or of state like it, that the file holds: all but the padding of
// its rows.
template <class Array, class Use>
void for_each_part(const Parameters& matrix, Array& values, const Use& use) {
  if (values.size() != matrix.rows * matrix.stride || matrix.stride == matrix.columns) {
    use(values.span());
    return;
  }
  for (std::size_t r = 0; r < matrix.rows; ++r) use(values.span().subspan(r * matrix.stride, matrix.columns));
}

// Numbers that a state array holds in the file.
std::uint64_t stored_count(const Parameters& matrix, const AlignedArray<float>& values) {
  return values.size() == matrix.rows * matrix.stride ? matrix.rows * matrix.columns : values.size();
}

void put_rows(ByteWriter& out, const Parameters& matrix, const AlignedArray<float>& values) {
  for_each_part(matrix, values, [&](std::span<const float> part) { out.put_values(part); });
}

void put_weights(ByteWriter& out, const Parameters& matrix) {
  out.put<std::uint64_t>(matrix.rows);
  out.put<std::uint64_t>(matrix.columns);
  if (matrix.is_bf16()) {
    out.put_values(matrix.pairs);
  } else {
    put_rows(out, matrix, matrix.weights);
  }
}

void get_weights(ByteReader& in, std::string_view name, Parameters& matrix) {
  in.expect(matrix.rows, "a matrix of another size");
  in.expect(matrix.columns, "a matrix of another size");
  matrix.get(in, name, false);
}

void put_state(ByteWriter& out, const Parameters& matrix, const MatrixState& state) {
  for (const AlignedArray<float>* array : {&state.first, &state.second}) {
    out.put<std::uint64_t>(stored_count(matrix, *array));
    put_rows(out, matrix, *array);
  }
  out.put_array(state.steps.data(), state.steps.size());
}

void get_state(ByteReader& in, std::string_view name, const Parameters& matrix, MatrixState& state) {
  constexpr const char* kWhat = "optimizer state of another size";
  const std::string state_name = fmt::format("optimizer state of the {}", name);
  for (AlignedArray<float>* array : {&state.first, &state.second}) {
    in.expect(stored_count(matrix, *array), kWhat);
    const std::size_t stride = array->size() / std::max<std::size_t>(matrix.rows, 1);
    std::size_t row = 0;
    for_each_part(matrix, *array,
                  [&](std::span<float> part) { get_finite_rows(in, state_name, row++, stride, part); });
  }
  in.get_array(state.steps.data(), state.steps.size(), kWhat);
}

void skip_state(ByteReader& in) {
  for (int array = 0; array < 3; ++array)
    in.skip(sizeof(float) * in.get_count(sizeof(float), "optimizer state beyond its length"));
}

}  // namespace

void put_matrices(ByteWriter& out, const Network& network, const OptimizerState* state) {
  const std::vector<const Parameters*> matrices = network.matrices();
  for (std::size_t m = 0; m < matrices.size(); ++m) {
    put_weights(out, *matrices[m]);
    if (state != nullptr) put_state(out, *matrices[m], state->matrices[m]);
  }
}

void get_matrices(ByteReader& in, StoredState stored, Network& network, OptimizerState& state) {
  const std::vector<Parameters*> matrices = network.matrices();
  for (std::size_t m = 0; m < matrices.size(); ++m) {
    const std::string name = Network::matrix_name(m);
    get_weights(in, name, *matrices[m]);
    if (stored == StoredState::kSkip) skip_state(in);
    if (stored != StoredState::kRead) continue;
    get_state(in, name, *matrices[m],
              state.matrices.emplace_back(*matrices[m], network.config().optimizer.kind));
  }
}

}  // namespace slide
