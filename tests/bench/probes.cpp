#include "tests/bench/probes.h"

#include <algorithm>
#include <string_view>

#include "engine/base/aligned.h"
#include "engine/base/phases.h"
#include "engine/base/prefetch.h"
#include "engine/base/rng.h"
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

// Adds up `count` floats, a multiple of 8 vectors, in enough chains to hide the latency of additions; returns
// the first entry of the sum.
template <class Vector>
[[gnu::always_inline]] inline float sum_chains(const float* data, std::size_t count) {
  constexpr std::size_t kChains = 8, kWidth = sizeof(Vector) / sizeof(float);
  Vector sums[kChains] = {};
  for (std::size_t i = 0; i < count; i += kChains * kWidth) {
#pragma GCC unroll 8
    for (std::size_t c = 0; c < kChains; ++c)
      sums[c] += *reinterpret_cast<const Vector*>(data + i + kWidth * c);
  }
  for (std::size_t c = 1; c < kChains; ++c) sums[0] += sums[c];
  return sums[0][0];
}

#if defined(__x86_64__)
[[gnu::target("avx512f"), gnu::noinline]] float chains_avx512(long rounds) {
  return fma_chains<Vector64, 16>(rounds);
}
[[gnu::target("avx512f"), gnu::noinline]] float sum_avx512(const float* data, std::size_t count) {
  return sum_chains<Vector64>(data, count);
}
[[gnu::target("avx2,fma"), gnu::noinline]] float chains_avx2(long rounds) {
  return fma_chains<Vector32, 12>(rounds);
}
[[gnu::target("avx2,fma"), gnu::noinline]] float sum_avx2(const float* data, std::size_t count) {
  return sum_chains<Vector32>(data, count);
}
#endif
[[gnu::noinline]] float chains_baseline(long rounds) {
  return fma_chains<Vector16, 12>(rounds);
}
[[gnu::noinline]] float sum_baseline(const float* data, std::size_t count) {
  return sum_chains<Vector16>(data, count);
}

volatile float sink;

struct Chains {
  float (*run)(long);
  double width;  // floats per operation
  float (*sum)(const float*, std::size_t);
};

Chains chains_in_use() {
#if defined(__x86_64__)
  const std::string_view set = kernels::active().name;
  if (set.starts_with("avx512") || set == "amx") return {chains_avx512, 16 * 16, sum_avx512};
  if (set == "avx2") return {chains_avx2, 8 * 12, sum_avx2};
#endif
  return {chains_baseline, 4 * 12, sum_baseline};
}

const Chains& chains() {
  static const Chains in_use = chains_in_use();
  return in_use;
}

const AlignedArray<float>& far_data() {
  static const AlignedArray<float> data = [] {
    AlignedArray<float> filled(kFarBytes / sizeof(float));
    std::fill(filled.begin(), filled.end(), 1.0f);
    return filled;
  }();
  return data;
}

}  // namespace

double peak_flops() {
  constexpr long kRounds = 20'000;
  LapClock clock;
  sink = chains().run(kRounds);
  return 2.0 * chains().width * kRounds / clock.lap();
}

double peak_near_bytes() {
  constexpr std::size_t kCount = 4096, kRounds = 200;  // 16 KB
  static const AlignedArray<float> data(kCount);
  LapClock clock;
  float sum = 0;
  for (std::size_t round = 0; round < kRounds; ++round) sum += chains().sum(data.data(), kCount);
  sink = sum;
  return double(kCount * sizeof(float) * kRounds) / clock.lap();
}

double peak_bandwidth() {
  constexpr std::size_t kSlice = std::size_t{1} << 20;
  static std::size_t at = 0;
  at = (at + kSlice) % far_data().size();
  LapClock clock;
  sink = sum_baseline(far_data().data() + at, kSlice);
  return double(kSlice) * sizeof(float) / clock.lap();
}

double peak_scattered(std::size_t row_bytes) {
  constexpr std::size_t kRead = 1000, kAhead = 8, kLine = kAlignment / sizeof(float);
  const std::size_t row = row_bytes / sizeof(float);
  static Rng rng(1, Purpose::kTest);
  std::uint32_t ids[kRead + kAhead];
  for (std::uint32_t& id : ids) id = rng.below(static_cast<std::uint32_t>(kFarBytes / row_bytes));
  const float* data = far_data().data();
  LapClock clock;
  float sum = 0;
  for (std::size_t i = 0; i < kRead; ++i) {
    for (std::size_t k = 0; k < row; k += kLine) {
      prefetch(data + ids[i + kAhead] * row + k);
      sum += data[ids[i] * row + k];
    }
  }
  sink = sum;
  return double(kRead * row_bytes) / clock.lap();
}

}  // namespace slide::bench
