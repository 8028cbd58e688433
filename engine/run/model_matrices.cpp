#include "engine/run/model_matrices.h"

#include <span>
#include <type_traits>
#include <vector>

namespace slide {

namespace {

// Every matrix of a network, in the order of the file.
template <class N>
auto matrices_of(N& network) {
  using Matrix = std::conditional_t<std::is_const_v<N>, const Parameters, Parameters>;
  std::vector<Matrix*> matrices;
  if (network.input()) {
    matrices.push_back(&network.input()->weights());
    matrices.push_back(&network.input()->bias());
  }
  for (auto& layer : network.layers()) {
    matrices.push_back(&layer.weights());
    matrices.push_back(&layer.bias());
  }
  return matrices;
}

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

void get_rows(ByteReader& in, const Parameters& matrix, AlignedArray<float>& values) {
  for_each_part(matrix, values, [&](std::span<float> part) { in.get_values(part); });
}

void put_matrix(ByteWriter& out, const Parameters& matrix, bool with_state) {
  out.put<std::uint64_t>(matrix.rows);
  out.put<std::uint64_t>(matrix.columns);
  if (matrix.half()) {
    out.put_values(matrix.pairs);
  } else {
    put_rows(out, matrix, matrix.weights);
  }
  if (!with_state) return;
  for (const AlignedArray<float>* state : {&matrix.first, &matrix.second}) {
    out.put<std::uint64_t>(stored_count(matrix, *state));
    put_rows(out, matrix, *state);
  }
  out.put_array(matrix.steps.data(), matrix.steps.size());
}

void get_state(ByteReader& in, Parameters& matrix) {
  constexpr const char* kWhat = "optimizer state of another size";
  for (AlignedArray<float>* state : {&matrix.first, &matrix.second}) {
    in.expect(stored_count(matrix, *state), kWhat);
    get_rows(in, matrix, *state);
  }
  in.get_array(matrix.steps.data(), matrix.steps.size(), kWhat);
}

void skip_state(ByteReader& in) {
  for (int array = 0; array < 3; ++array)
    in.take(sizeof(float) * in.get_count(sizeof(float), "optimizer state beyond its length"));
}

void get_matrix(ByteReader& in, Parameters& matrix, const OptimizerState& state) {
  in.expect(matrix.rows, "a matrix of another size");
  in.expect(matrix.columns, "a matrix of another size");
  if (matrix.half()) {
    in.get_values(matrix.pairs);
  } else {
    get_rows(in, matrix, matrix.weights);
  }
  if (!state.stored) return;
  if (state.wanted) {
    get_state(in, matrix);
  } else {
    skip_state(in);
  }
}

}  // namespace

void put_matrices(ByteWriter& out, const Network& network, bool with_state) {
  for (const Parameters* matrix : matrices_of(network)) put_matrix(out, *matrix, with_state);
}

void get_matrices(ByteReader& in, Network& network, const OptimizerState& state) {
  for (Parameters* matrix : matrices_of(network)) get_matrix(in, *matrix, state);
}

}  // namespace slide
