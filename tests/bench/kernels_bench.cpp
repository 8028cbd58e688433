// Benchmark of kernels against the machine's measured peak. `share` is the median, over many short intervals,
// of the kernel's rate relative to the rate of a probe directly before and after it: fused multiply-adds in
// registers, or sequentially read bytes. Shapes and strides are those of one training step.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "datasets/rows/shuffle.h"
#include "engine/base/aligned.h"
#include "engine/base/phases.h"
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

// Rows scattered over a matrix of ten times their number, like an active set.
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

constexpr int kIterations = 2000;

// Times `kernel`, with `work` units per call, in intervals of about 0.1 ms between two probes.
template <class Kernel>
void against(benchmark::State& state, double (*peak)(), double work, Kernel&& kernel) {
  const auto run_calls = [&](int calls) {
    LapClock clock;
    for (int call = 0; call < calls; ++call) {
      kernel();
      benchmark::ClobberMemory();
    }
    return clock.lap() / calls;
  };
  run_calls(3);
  const int calls = std::max(1, static_cast<int>(1e-4 / run_calls(3)));
  std::vector<double> shares;
  for (auto _ : state) {
    const double before = peak(), call = run_calls(calls), after = peak();
    state.SetIterationTime(call);
    shares.push_back(work / call / (0.5 * (before + after)));
  }
  std::nth_element(shares.begin(), shares.begin() + std::ptrdiff_t(shares.size() / 2), shares.end());
  state.counters["share"] = shares[shares.size() / 2];
  state.counters["rate"] = benchmark::Counter(work * double(state.iterations()), benchmark::Counter::kIsRate);
}

double flops(const Shape& shape) {
  return 2.0 * double(shape.rows) * double(shape.inner) * double(shape.lanes);
}

void BM_rows_forward(benchmark::State& state) {
  const Shape shape(state);
  const auto w = filled(shape.rows * 10 * shape.inner), x = filled(shape.inner * shape.lanes);
  auto z = filled(shape.rows * shape.lanes);
  const auto ids = scattered(shape.rows);
  against(state, bench::peak_flops, flops(shape), [&] {
    kernels::active().rows_forward(w.data(), shape.inner, ids.data(), shape.rows, nullptr, x.data(),
                                   shape.inner, shape.lanes, z.data());
  });
}

// The share may exceed 1: the peak is that of fp32.
void BM_rows_forward_bf16(benchmark::State& state) {
  const Shape shape(state);
  const std::size_t stride = shape.inner / 2;
  AlignedArray<std::uint32_t> w(shape.rows * 10 * stride);
  for (std::size_t r = 0; r < shape.rows * 10; ++r)
    kernels::active().narrow(filled(shape.inner).data(), shape.inner, 1, w.data() + r * stride);
  const auto x = filled(shape.inner * shape.lanes);
  auto z = filled(shape.rows * shape.lanes);
  const auto ids = scattered(shape.rows);
  against(state, bench::peak_flops, flops(shape), [&] {
    kernels::active().rows_forward_bf16(w.data(), stride, ids.data(), shape.rows, nullptr, x.data(),
                                        shape.inner, shape.lanes, z.data());
  });
}

void BM_rows_backward_input(benchmark::State& state) {
  const Shape shape(state);
  const auto w = filled(shape.rows * 10 * shape.inner), d = filled(shape.rows * shape.lanes);
  const std::size_t ldx = kernels::spread_stride(shape.inner);
  auto dx = filled(ldx * shape.lanes);
  const auto ids = scattered(shape.rows);
  against(state, bench::peak_flops, flops(shape), [&] {
    kernels::active().rows_backward_input(w.data(), shape.inner, ids.data(), shape.rows, d.data(),
                                          shape.inner, shape.lanes, dx.data(), ldx);
  });
}

void BM_rows_gradient(benchmark::State& state) {
  const Shape shape(state);
  const std::size_t ldx = kernels::spread_stride(shape.inner);
  const auto d = filled(shape.rows * shape.lanes), x = filled(ldx * shape.lanes);
  constexpr std::size_t kRows = 32;  // updated together in a step
  auto g = filled(kRows * ldx);
  std::vector<const float*> rows(shape.rows);
  for (std::size_t r = 0; r < shape.rows; ++r) rows[r] = d.data() + r * shape.lanes;
  std::vector<float*> gradients(kRows);
  for (std::size_t r = 0; r < kRows; ++r) gradients[r] = g.data() + r * ldx;
  against(state, bench::peak_flops, flops(shape), [&] {
    for (std::size_t r = 0; r < shape.rows; r += kRows) {
      kernels::active().rows_gradient(rows.data() + r, std::min(kRows, shape.rows - r), shape.lanes, x.data(),
                                      ldx, shape.inner, gradients.data());
    }
  });
}

// Random rows of a large matrix: a sample's features, as the first layer reads them.
void BM_gather_rows(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(0)), n = static_cast<std::size_t>(state.range(1));
  const std::size_t rows = bench::kFarBytes / (n * sizeof(float));
  AlignedArray<float> w(rows * n);
  std::fill(w.begin(), w.end(), 1.0f);
  const auto values = filled(count);
  auto h = filled(n);
  std::vector<std::uint32_t> ids(rows);
  shuffle_order(ids, 3, 1);
  std::size_t at = 0;
  against(state, bench::peak_bandwidth, double(count * n * sizeof(float)), [&] {
    at = at + 2 * count <= ids.size() ? at + count : 0;
    kernels::active().gather_rows(w.data(), n, ids.data() + at, values.data(), count, n, h.data());
  });
}

void BM_softmax_lanes(benchmark::State& state) {
  const Shape shape(state);
  auto z = filled(shape.rows * shape.lanes);
  std::vector<float> norm(shape.lanes);
  for (auto _ : state) {
    kernels::active().softmax_lanes(z.data(), shape.lanes, shape.rows, shape.lanes, 1.0f, norm.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * shape.rows * shape.lanes);
}

#define SHAPES \
  Args({600, 128, 32})->Args({600, 128, 16})->Args({600, 128, 64})->Args({600, 256, 32})->Args({600, 512, 32})
BENCHMARK(BM_rows_forward)->UseManualTime()->Iterations(kIterations)->SHAPES;
BENCHMARK(BM_rows_forward_bf16)->UseManualTime()->Iterations(kIterations)->SHAPES;
BENCHMARK(BM_rows_backward_input)->UseManualTime()->Iterations(kIterations)->SHAPES;
BENCHMARK(BM_rows_gradient)->UseManualTime()->Iterations(kIterations)->SHAPES;
BENCHMARK(BM_gather_rows)->UseManualTime()->Iterations(kIterations)->Args({80, 128})->Args({80, 512});
BENCHMARK(BM_softmax_lanes)->Args({600, 128, 32});

}  // namespace
}  // namespace slide
