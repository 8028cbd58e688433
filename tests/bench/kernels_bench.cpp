// Kernels against the machine's measured peak: `peak` is the share of the FMA rate that a loop of independent
// fused multiply-adds reaches in the same process. Shapes are those of one training step.
#include <benchmark/benchmark.h>

#include <chrono>
#include <numeric>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/rng.h"
#include "engine/kernels/kernels.h"
#include "tests/bench/probes.h"

namespace slide {
namespace {

using Filled = AlignedArray<float>;

Filled filled(std::size_t n) {
  Filled array(n);
  Rng rng(1, Purpose::kTest, n);
  for (float& value : array) value = static_cast<float>(rng.uniform() - 0.5);
  return array;
}

// Rows scattered over a matrix of ten times their number, as an active set is.
std::vector<std::uint32_t> scattered(std::size_t rows) {
  std::vector<std::uint32_t> ids(rows);
  Rng rng(2, Purpose::kTest);
  for (std::size_t a = 0; a < rows; ++a) ids[a] = static_cast<std::uint32_t>(a * 10 + rng.below(10));
  return ids;
}

struct Shape {
  std::size_t rows, inner, lanes;
  explicit Shape(const benchmark::State& state)
      : rows(state.range(0)), inner(state.range(1)), lanes(state.range(2)) {}
};

void report(benchmark::State& state, const Shape& shape) {
  const double flops = 2.0 * double(shape.rows) * double(shape.inner) * double(shape.lanes);
  state.counters["flops"] =
      benchmark::Counter(flops * double(state.iterations()), benchmark::Counter::kIsRate);
  state.counters["peak_flops"] = bench::peak_flops();
}

void BM_rows_forward(benchmark::State& state) {
  const Shape shape(state);
  const auto w = filled(shape.rows * 10 * shape.inner), x = filled(shape.inner * shape.lanes);
  auto z = filled(shape.rows * shape.lanes);
  const auto ids = scattered(shape.rows);
  for (auto _ : state) {
    kernels::active().rows_forward(w.data(), shape.inner, ids.data(), shape.rows, nullptr, x.data(),
                                   shape.inner, shape.lanes, z.data());
    benchmark::ClobberMemory();
  }
  report(state, shape);
}

// `flops` may pass the peak, which is that of fp32.
void BM_rows_forward_bf16(benchmark::State& state) {
  const Shape shape(state);
  const std::size_t stride = shape.inner / 2;
  AlignedArray<std::uint32_t> w(shape.rows * 10 * stride);
  for (std::size_t r = 0; r < shape.rows * 10; ++r)
    kernels::active().narrow(filled(shape.inner).data(), shape.inner, 1, w.data() + r * stride);
  const auto x = filled(shape.inner * shape.lanes);
  auto z = filled(shape.rows * shape.lanes);
  const auto ids = scattered(shape.rows);
  for (auto _ : state) {
    kernels::active().rows_forward_bf16(w.data(), stride, ids.data(), shape.rows, nullptr, x.data(),
                                        shape.inner, shape.lanes, z.data());
    benchmark::ClobberMemory();
  }
  report(state, shape);
}

void BM_rows_backward_input(benchmark::State& state) {
  const Shape shape(state);
  const auto w = filled(shape.rows * 10 * shape.inner), d = filled(shape.rows * shape.lanes);
  auto dx = filled(shape.inner * shape.lanes);
  const auto ids = scattered(shape.rows);
  for (auto _ : state) {
    kernels::active().rows_backward_input(w.data(), shape.inner, ids.data(), shape.rows, d.data(),
                                          shape.inner, shape.lanes, dx.data(), shape.inner);
    benchmark::ClobberMemory();
  }
  report(state, shape);
}

void BM_rows_gradient(benchmark::State& state) {
  const Shape shape(state);
  const auto d = filled(shape.rows * shape.lanes), x = filled(shape.inner * shape.lanes);
  constexpr std::size_t kRows = 32;  // updated together in a step
  auto g = filled(kRows * shape.inner);
  std::vector<const float*> rows(shape.rows);
  for (std::size_t r = 0; r < shape.rows; ++r) rows[r] = d.data() + r * shape.lanes;
  std::vector<float*> gradients(kRows);
  for (std::size_t r = 0; r < kRows; ++r) gradients[r] = g.data() + r * shape.inner;
  for (auto _ : state) {
    for (std::size_t r = 0; r < shape.rows; r += kRows) {
      kernels::active().rows_gradient(rows.data() + r, std::min(kRows, shape.rows - r), shape.lanes, x.data(),
                                      shape.inner, shape.inner, gradients.data());
    }
    benchmark::ClobberMemory();
  }
  report(state, shape);
}

void BM_softmax_lanes(benchmark::State& state) {
  const Shape shape(state);
  auto z = filled(shape.rows * shape.lanes);
  std::vector<float> norm(shape.lanes);
  for (auto _ : state) {
    kernels::active().softmax_lanes(z.data(), shape.rows, shape.lanes, 1.0f, norm.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * shape.rows * shape.lanes);
}

#define SHAPES Args({600, 128, 32})->Args({600, 128, 16})->Args({600, 128, 64})->Args({600, 512, 32})
BENCHMARK(BM_rows_forward)->SHAPES;
BENCHMARK(BM_rows_forward_bf16)->SHAPES;
BENCHMARK(BM_rows_backward_input)->SHAPES;
BENCHMARK(BM_rows_gradient)->SHAPES;
BENCHMARK(BM_softmax_lanes)->Args({600, 128, 32});

}  // namespace
}  // namespace slide
