// Softmax, logistic loss, activations and their backward forms, as kernels.h specifies. All work in place:
// whole registers of kWidth floats first, then the rest one by one.
#pragma once

#include "engine/kernels/simd.h"

namespace slide::kernels {
namespace {

// softmax_lanes for a single sample, whose rows are contiguous.
template <class Arch>
void softmax_of_one(float* z, size_t rows, float scale, float* log_norm) {
  constexpr size_t N = kWidth<Arch>;
  float largest = z[0];
  for (size_t a = 1; a < rows; ++a) largest = z[a] > largest ? z[a] : largest;
  size_t a = 0;
  Vec<Arch> sums(0.0f);
  for (; a + N <= rows; a += N) {
    const Vec<Arch> e = xsimd::exp(Vec<Arch>::load_unaligned(z + a) - Vec<Arch>(largest));
    e.store_unaligned(z + a);
    sums += e;
  }
  float sum = sum_of<Arch>(sums);
  for (; a < rows; ++a) {
    z[a] = __builtin_expf(z[a] - largest);
    sum += z[a];
  }
  for (a = 0; a < rows; ++a) z[a] *= scale / sum;
  *log_norm = largest + __builtin_logf(sum);
}

// Softmax of each column of z [rows x ldz], a register of columns at a time. Subtracts the maximum of a
// column first, against overflow.
template <class Arch>
void softmax_lanes(float* z, size_t ldz, size_t rows, size_t lanes, float scale, float* log_norm) {
  constexpr size_t N = kWidth<Arch>;
  if (ldz == 1) return softmax_of_one<Arch>(z, rows, scale, log_norm);
  for (size_t b = 0; b < lanes; b += N) {
    Vec<Arch> largest = Vec<Arch>::load_aligned(z + b);
    for (size_t a = 1; a < rows; ++a) largest = xsimd::max(largest, Vec<Arch>::load_aligned(z + a * ldz + b));
    Vec<Arch> sum(0.0f);
    for (size_t a = 0; a < rows; ++a) {
      const Vec<Arch> e = xsimd::exp(Vec<Arch>::load_aligned(z + a * ldz + b) - largest);
      e.store_aligned(z + a * ldz + b);
      sum += e;
    }
    const Vec<Arch> factor = Vec<Arch>(scale) / sum;
    for (size_t a = 0; a < rows; ++a) {
      (Vec<Arch>::load_aligned(z + a * ldz + b) * factor).store_aligned(z + a * ldz + b);
    }
    (largest + xsimd::log(sum)).store_unaligned(log_norm + b);
  }
}

// Sigmoid loss and its gradients: log(1 + exp(x)) = max(x, 0) + log(1 + e) with e = exp(-|x|) <= 1, which
// does not overflow.
template <class Arch>
float logistic_loss(float* z, size_t n, float weight) {
  constexpr size_t N = kWidth<Arch>;
  const Vec<Arch> zero(0.0f), one(1.0f), factor(weight);
  Vec<Arch> sums(0.0f);
  size_t i = 0;
  for (; i + N <= n; i += N) {
    const Vec<Arch> x = Vec<Arch>::load_unaligned(z + i);
    const Vec<Arch> e = xsimd::exp(-xsimd::abs(x));
    sums += xsimd::max(x, zero) + xsimd::log(one + e);
    (factor * xsimd::select(x >= zero, one, e) / (one + e)).store_unaligned(z + i);
  }
  float sum = sum_of<Arch>(sums);
  for (; i < n; ++i) {
    const float e = __builtin_expf(-__builtin_fabsf(z[i]));
    sum += (z[i] > 0.0f ? z[i] : 0.0f) + __builtin_logf(1.0f + e);
    z[i] = weight * (z[i] >= 0.0f ? 1.0f : e) / (1.0f + e);
  }
  return weight * sum;
}

inline void relu(float* z, size_t n) {
  for (size_t i = 0; i < n; ++i) z[i] = z[i] > 0.0f ? z[i] : 0.0f;
}

// x = exp(x); the last, incomplete register goes through a copy.
template <class Arch>
void exp_doubles(double* x, size_t n) {
  using Doubles = xsimd::batch<double, Arch>;
  constexpr size_t N = Doubles::size;
  size_t i = 0;
  for (; i + N <= n; i += N) xsimd::exp(Doubles::load_unaligned(x + i)).store_unaligned(x + i);
  if (i == n) return;
  double rest[N] = {};
  for (size_t j = 0; i + j < n; ++j) rest[j] = x[i + j];
  xsimd::exp(Doubles::load_unaligned(rest)).store_unaligned(rest);
  for (size_t j = 0; i + j < n; ++j) x[i + j] = rest[j];
}

template <class Arch>
void sigmoid(float* z, size_t n) {
  constexpr size_t N = kWidth<Arch>;
  const Vec<Arch> one(1.0f);
  size_t i = 0;
  for (; i + N <= n; i += N) {
    (one / (one + xsimd::exp(-Vec<Arch>::load_unaligned(z + i)))).store_unaligned(z + i);
  }
  for (; i < n; ++i) z[i] = 1.0f / (1.0f + __builtin_expf(-z[i]));
}

template <class Arch>
void tanh(float* z, size_t n) {
  constexpr size_t N = kWidth<Arch>;
  size_t i = 0;
  for (; i + N <= n; i += N) xsimd::tanh(Vec<Arch>::load_unaligned(z + i)).store_unaligned(z + i);
  for (; i < n; ++i) z[i] = __builtin_tanhf(z[i]);
}

inline void relu_backward(const float* y, size_t n, float* d) {
  for (size_t i = 0; i < n; ++i) d[i] = y[i] > 0.0f ? d[i] : 0.0f;
}

inline void sigmoid_backward(const float* y, size_t n, float* d) {
  for (size_t i = 0; i < n; ++i) d[i] *= y[i] * (1.0f - y[i]);
}

inline void tanh_backward(const float* y, size_t n, float* d) {
  for (size_t i = 0; i < n; ++i) d[i] *= 1.0f - y[i] * y[i];
}

}  // namespace
}  // namespace slide::kernels
