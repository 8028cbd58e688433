// Optimizer updates of one weight row w [n] from its gradient g [n], as kernels.h specifies. Weight decay is
// decoupled: keep = 1 - rate * decay.
#pragma once

#include "engine/kernels/simd.h"
#include "engine/kernels/simd_vectors.h"

namespace slide::kernels {
namespace {

// w = keep * w - step * g
template <class Arch>
void step_row(float* w, const float* g, size_t n, float step, float keep) {
  constexpr size_t N = kWidth<Arch>;
  size_t k = 0;
  for (; k + N <= n; k += N) {
    const Vec<Arch> kept = Vec<Arch>(keep) * Vec<Arch>::load_unaligned(w + k);
    xsimd::fnma(Vec<Arch>(step), Vec<Arch>::load_unaligned(g + k), kept).store_unaligned(w + k);
  }
  for (; k < n; ++k) w[k] = keep * w[k] - step * g[k];
}

template <class Arch>
void sgd_row(float* w, const float* g, size_t n, float rate, float decay) {
  step_row<Arch>(w, g, n, rate, 1.0f - rate * decay);
}

// velocity = momentum * velocity + g; w = keep * w - rate * velocity.
template <class Arch>
void momentum_row(float* w, float* velocity, const float* g, size_t n, float rate, float decay,
                  float momentum) {
  constexpr size_t N = kWidth<Arch>;
  const float keep = 1.0f - rate * decay;
  size_t k = 0;
  for (; k + N <= n; k += N) {
    const Vec<Arch> u = xsimd::fma(Vec<Arch>(momentum), Vec<Arch>::load_unaligned(velocity + k),
                                   Vec<Arch>::load_unaligned(g + k));
    u.store_unaligned(velocity + k);
    xsimd::fnma(Vec<Arch>(rate), u, Vec<Arch>(keep) * Vec<Arch>::load_unaligned(w + k))
        .store_unaligned(w + k);
  }
  for (; k < n; ++k) {
    velocity[k] = momentum * velocity[k] + g[k];
    w[k] = keep * w[k] - rate * velocity[k];
  }
}

// One accumulator for the whole row: the sum over updates of the mean squared gradient.
template <class Arch>
void adagrad_row(float* w, float* accumulator, const float* g, size_t n, float rate, float decay,
                 float epsilon) {
  *accumulator += dot<Arch>(g, g, n) / static_cast<float>(n);
  step_row<Arch>(w, g, n, rate / (__builtin_sqrtf(*accumulator) + epsilon), 1.0f - rate * decay);
}

// m and v are the moving averages of gradient and squared gradient. `rate` includes the bias corrections.
template <class Arch>
void adam_row(float* w, float* m, float* v, const float* g, size_t n, float rate, float decay, float beta1,
              float beta2, float epsilon) {
  constexpr size_t N = kWidth<Arch>;
  const float keep = 1.0f - rate * decay;
  size_t k = 0;
  for (; k + N <= n; k += N) {
    const Vec<Arch> gradient = Vec<Arch>::load_unaligned(g + k);
    const Vec<Arch> first =
        xsimd::fma(Vec<Arch>(beta1), Vec<Arch>::load_unaligned(m + k), Vec<Arch>(1.0f - beta1) * gradient);
    const Vec<Arch> second = xsimd::fma(Vec<Arch>(beta2), Vec<Arch>::load_unaligned(v + k),
                                        Vec<Arch>(1.0f - beta2) * gradient * gradient);
    first.store_unaligned(m + k);
    second.store_unaligned(v + k);
    const Vec<Arch> kept = Vec<Arch>(keep) * Vec<Arch>::load_unaligned(w + k);
    (kept - Vec<Arch>(rate) * first / (xsimd::sqrt(second) + Vec<Arch>(epsilon))).store_unaligned(w + k);
  }
  for (; k < n; ++k) {
    m[k] = beta1 * m[k] + (1.0f - beta1) * g[k];
    v[k] = beta2 * v[k] + (1.0f - beta2) * g[k] * g[k];
    w[k] = keep * w[k] - rate * m[k] / (__builtin_sqrtf(v[k]) + epsilon);
  }
}

}  // namespace
}  // namespace slide::kernels
