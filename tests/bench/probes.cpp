#include "tests/bench/probes.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/kernels/kernels.h"

namespace slide::bench {
namespace {

template <class F>
double best_seconds(F&& body) {
  double best = 1e9;
  for (int run = 0; run < 7; ++run) {
    const auto start = std::chrono::steady_clock::now();
    body();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

typedef float Vector16 __attribute__((vector_size(16)));
typedef float Vector32 __attribute__((vector_size(32)));
typedef float Vector64 __attribute__((vector_size(64)));

// 16 vectors, each multiplied and added `rounds` times: more chains than the latency needs.
template <class Vector>
[[gnu::always_inline]] inline float fma_chains(long rounds) {
  Vector acc[16];
  const Vector factor = Vector{} + 0.999f, addend = Vector{} + 0.001f;
  for (int i = 0; i < 16; ++i) acc[i] = Vector{} + float(i);
  for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) acc[i] = acc[i] * factor + addend;
  }
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += acc[i][0];
  return sum;
}

#if defined(__x86_64__)
[[gnu::target("avx512f,prefer-vector-width=512"), gnu::noinline]] float chains_avx512(long rounds) {
  return fma_chains<Vector64>(rounds);
}
[[gnu::target("avx2,fma"), gnu::noinline]] float chains_avx2(long rounds) {
  return fma_chains<Vector32>(rounds);
}
#endif
[[gnu::noinline]] float chains_baseline(long rounds) {
  return fma_chains<Vector16>(rounds);
}

volatile float sink;

double measure_flops() {
  constexpr long kRounds = 2'000'000;
  const std::string_view set = kernels::active().name;
  double width = 4;
  float (*chains)(long) = chains_baseline;
#if defined(__x86_64__)
  if (set.starts_with("avx512") || set == "amx") chains = chains_avx512, width = 16;
  if (set == "avx2") chains = chains_avx2, width = 8;
#endif
  return 2.0 * width * 16 * kRounds / best_seconds([&] { sink = chains(kRounds); });
}

}  // namespace

double peak_flops() {
  static const double value = measure_flops();
  return value;
}

double peak_bandwidth() {
  static const double value = [] {
    const std::size_t count = std::size_t{64} << 20;
    AlignedArray<float> data(count);
    std::fill(data.begin(), data.end(), 1.0f);
    return double(count) * sizeof(float) /
           best_seconds([&] { sink = kernels::active().dot(data.data(), data.data(), count); });
  }();
  return value;
}

}  // namespace slide::bench
