// The products of rows and blocks of samples against fused multiply-adds in registers, and rows far in memory
// against the probes of memory. Shapes and strides are those of one training step.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "datasets/rows/shuffle.h"
#include "engine/base/aligned.h"
#include "engine/base/phases.h"
#include "engine/base/rng.h"
#include "engine/kernels/kernels.h"
#include "tests/bench/kernel_shares.h"
#include "tests/bench/probes.h"

namespace slide::bench {
namespace {

struct Shape {
  std::size_t rows, inner, lanes;
  explicit Shape(const benchmark::State& state)
      : rows(state.range(0)), inner(state.range(1)), lanes(state.range(2)) {}
};

constexpr int kIterations = 2000;

double flops(const Shape& shape) {
  return 2.0 * double(shape.rows) * double(shape.inner) * double(shape.lanes);
}

void BM_rows_forward(benchmark::State& state) {
  const Shape shape(state);
  const auto w = filled(shape.rows * 10 * shape.inner), x = filled(shape.inner * shape.lanes);
  auto z = filled(shape.rows * shape.lanes);
  const auto ids = scattered(shape.rows);
  measure_share(state, peak_flops, flops(shape), [&] {
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
  measure_share(state, peak_flops, flops(shape), [&] {
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
  measure_share(state, peak_flops, flops(shape), [&] {
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
  measure_share(state, peak_flops, flops(shape), [&] {
    for (std::size_t r = 0; r < shape.rows; r += kRows) {
      kernels::active().rows_gradient(rows.data() + r, std::min(kRows, shape.rows - r), shape.lanes, x.data(),
                                      ldx, shape.inner, gradients.data());
    }
  });
}

// Integer products of quantized rows and samples; the share may exceed 1.
void BM_rows_forward_int8(benchmark::State& state) {
  const Shape shape(state);
  const ByteRows w(shape.rows, shape.inner);
  AlignedArray<std::uint32_t> words(shape.inner / 4 * shape.lanes);
  std::fill(words.begin(), words.end(), 0x40302010U);
  const auto steps = filled(shape.lanes);
  const auto shift = filled(shape.rows);
  auto z = filled(shape.rows * shape.lanes);
  measure_share(state, peak_flops, flops(shape), [&] {
    kernels::active().rows_forward_int8(w.rows(), shape.rows, nullptr, shift.data(),
                                        {words.data(), steps.data(), shape.inner, shape.lanes}, z.data());
  });
}

// Random rows of a matrix larger than any cache: a sample's features, as the first layer reads them. `gather`
// reads the rows ids[0 ... count).
template <class Gather>
void gather_far(benchmark::State& state, std::size_t rows, std::size_t row_bytes, Gather&& gather) {
  const auto count = static_cast<std::size_t>(state.range(0));
  std::vector<std::uint32_t> ids(rows);
  shuffle_order(ids, 3, 1);
  std::size_t at = 0;
  measure_share(
      state, [=] { return peak_scattered(row_bytes); }, double(count * row_bytes),
      [&] {
        at = at + 2 * count <= ids.size() ? at + count : 0;
        gather(ids.data() + at, count);
      });
}

void BM_gather_rows(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(1));
  const std::size_t rows = kFarBytes / (n * sizeof(float));
  AlignedArray<float> w(rows * n);
  std::fill(w.begin(), w.end(), 1.0f);
  const auto values = filled(static_cast<std::size_t>(state.range(0)));
  auto h = filled(n);
  gather_far(state, rows, n * sizeof(float), [&](const std::uint32_t* ids, std::size_t count) {
    kernels::active().gather_rows(w.data(), n, ids, values.data(), count, n, h.data());
  });
}

void BM_gather_rows_bf16(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(1));
  const std::size_t rows = kFarBytes / (n * 2);
  AlignedArray<std::uint32_t> w(rows * n / 2);
  std::fill(w.begin(), w.end(), 0x3f803f80U);
  const auto values = filled(static_cast<std::size_t>(state.range(0)));
  auto h = filled(n);
  gather_far(state, rows, n * 2, [&](const std::uint32_t* ids, std::size_t count) {
    kernels::active().gather_rows_bf16(w.data(), n / 2, ids, values.data(), count, n, h.data());
  });
}

void BM_gather_rows_int8(benchmark::State& state) {
  const auto n = static_cast<std::size_t>(state.range(1));
  const ByteRows w(kFarBytes / n, n);
  const auto values = filled(static_cast<std::size_t>(state.range(0)));
  auto h = filled(n);
  gather_far(state, kFarBytes / n, n, [&](const std::uint32_t* ids, std::size_t count) {
    kernels::active().gather_rows_int8(w.rows(), ids, values.data(), count, n, h.data());
  });
}

#define SHAPES \
  Args({600, 128, 32})->Args({600, 128, 16})->Args({600, 128, 64})->Args({600, 256, 32})->Args({600, 512, 32})
BENCHMARK(BM_rows_forward)->UseManualTime()->Iterations(kIterations)->SHAPES;
BENCHMARK(BM_rows_forward_bf16)->UseManualTime()->Iterations(kIterations)->SHAPES;
BENCHMARK(BM_rows_backward_input)->UseManualTime()->Iterations(kIterations)->SHAPES;
BENCHMARK(BM_rows_gradient)->UseManualTime()->Iterations(kIterations)->SHAPES;
BENCHMARK(BM_rows_forward_int8)->UseManualTime()->Iterations(kIterations)->SHAPES;
#define ROWS Args({80, 128})->Args({80, 512})
BENCHMARK(BM_gather_rows)->UseManualTime()->Iterations(kIterations)->ROWS;
BENCHMARK(BM_gather_rows_bf16)->UseManualTime()->Iterations(kIterations)->ROWS;
BENCHMARK(BM_gather_rows_int8)->UseManualTime()->Iterations(kIterations)->ROWS;

}  // namespace
}  // namespace slide::bench
