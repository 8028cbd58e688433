#include "tests/bench/probes.h"

#include <algorithm>
#include <string_view>

#include "engine/base/aligned.h"
#include "engine/base/phases.h"
#include "engine/kernels/kernels.h"

namespace slide::bench {
namespace {

typedef float Vector16 __attribute__((vector_size(16)));
typedef float Vector32 __attribute__((vector_size(32)));
typedef float Vector64 __attribute__((vector_size(64)));

// `Chains` vectors, each multiplied and added `rounds` times: enough to hide the latency, and with the two
// operands not more than the registers.
template <class Vector, int Chains>
[[gnu::always_inline]] inline float fma_chains(long rounds) {
  Vector acc[Chains];
  const Vector factor = Vector{} + 0.999f, addend = Vector{} + 0.001f;
  for (int i = 0; i < Chains; ++i) acc[i] = Vector{} + float(i);
  for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 16
    for (int i = 0; i < Chains; ++i) acc[i] = acc[i] * factor + addend;
  }
  float sum = 0;
  for (int i = 0; i < Chains; ++i) sum += acc[i][0];
  return sum;
}

#if defined(__x86_64__)
[[gnu::target("avx512f"), gnu::noinline]] float chains_avx512(long rounds) {
  return fma_chains<Vector64, 16>(rounds);
}
[[gnu::target("avx2,fma"), gnu::noinline]] float chains_avx2(long rounds) {
  return fma_chains<Vector32, 12>(rounds);
}
#endif
[[gnu::noinline]] float chains_baseline(long rounds) {
  return fma_chains<Vector16, 12>(rounds);
}

// The sum of `count` floats, a multiple of 32, in enough chains to hide the latency of additions.
[[gnu::noinline]] float read_all(const float* data, std::size_t count) {
  Vector16 sums[8] = {};
  for (std::size_t i = 0; i < count; i += 32) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < 8; ++c) sums[c] += *reinterpret_cast<const Vector16*>(data + i + 4 * c);
  }
  float sum = 0;
  for (const Vector16& part : sums) sum += part[0] + part[1] + part[2] + part[3];
  return sum;
}

volatile float sink;

struct Chains {
  float (*run)(long);
  double width;  // floats per operation
};

Chains chains_in_use() {
#if defined(__x86_64__)
  const std::string_view set = kernels::active().name;
  if (set.starts_with("avx512") || set == "amx") return {chains_avx512, 16 * 16};
  if (set == "avx2") return {chains_avx2, 8 * 12};
#endif
  return {chains_baseline, 4 * 12};
}

}  // namespace

double peak_flops() {
  constexpr long kRounds = 20'000;
  static const Chains chains = chains_in_use();
  LapClock clock;
  sink = chains.run(kRounds);
  return 2.0 * chains.width * kRounds / clock.lap();
}

double peak_bandwidth() {
  constexpr std::size_t kCount = kFarBytes / sizeof(float), kSlice = std::size_t{1} << 20;
  static AlignedArray<float> data = [] {
    AlignedArray<float> filled(kCount);
    std::fill(filled.begin(), filled.end(), 1.0f);
    return filled;
  }();
  static std::size_t at = 0;
  at = (at + kSlice) % kCount;
  LapClock clock;
  sink = read_all(data.data() + at, kSlice);
  return double(kSlice) * sizeof(float) / clock.lap();
}

}  // namespace slide::bench
