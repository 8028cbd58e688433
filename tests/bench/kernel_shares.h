// Measures the rate of a kernel as a share of what the machine can do directly before and after it.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/phases.h"
#include "engine/base/rng.h"
#include "engine/kernels/int8.h"

namespace slide::bench {

// `n` numbers from -0.5 to 0.5.
inline AlignedArray<float> filled(std::size_t n) {
  AlignedArray<float> array(n);
  Rng rng(1, Purpose::kTest, n);
  for (float& value : array) value = static_cast<float>(rng.uniform() - 0.5);
  return array;
}

// Rows scattered over a matrix of ten times their number, like an active set.
inline std::vector<std::uint32_t> scattered(std::size_t rows) {
  std::vector<std::uint32_t> ids(rows);
  Rng rng(2, Purpose::kTest);
  for (std::size_t a = 0; a < rows; ++a) ids[a] = static_cast<std::uint32_t>(a * 10 + rng.below(10));
  return ids;
}

// Quantized rows of `n` columns, a multiple of 32.
struct ByteRows {
  ByteRows(std::size_t rows, std::size_t n) : stride(n), q(rows * n), exponents(rows) {
    std::fill(q.begin(), q.end(), std::int8_t{3});
    std::fill(exponents.begin(), exponents.end(), std::int8_t{-7});
  }
  kernels::Int8Rows rows() const { return {q.data(), stride, exponents.data()}; }

  std::size_t stride;
  AlignedArray<std::int8_t> q, exponents;
};

// Times `kernel`, with `work` units per call, in intervals of about 0.1 ms between two calls of the probe
// `peak`. Counters: `share`, the median over the intervals of the rate relative to the mean of both probes;
// `rate`, units per second.
template <class Peak, class Kernel>
void measure_share(benchmark::State& state, Peak&& peak, double work, Kernel&& kernel) {
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

}  // namespace slide::bench
