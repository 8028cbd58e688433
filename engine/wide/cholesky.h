// Solution of small symmetric positive definite systems. Pure functions, safe from any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace slide {

// sum - a . b for a [n], b [n]; long vectors by four independent partial sums, which hide the latency of
// additions.
inline double less_product(double sum, const double* a, const double* b, std::size_t n) {
  constexpr std::size_t kLanes = 4, kLong = 8;
  std::size_t k = 0;
  if (n >= kLong) {
    std::array<double, kLanes> sums{};
    for (; k + kLanes <= n; k += kLanes)
      for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[k + lane] * b[k + lane];
    sum -= (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }
  for (; k < n; ++k) sum -= a[k] * b[k];
  return sum;
}

// Solves A x = b by Cholesky decomposition, O(n^3). `x` [n]: b on entry, the solution on return. `l` [n x n]:
// the lower half of the symmetric positive definite matrix A on entry, its Cholesky factor L (A = L L^T) on
// return. Pivots (squares of L's diagonal) are at least `min_pivot`.
inline void solve_by_cholesky(std::size_t n, double* l, double* x,
                              double min_pivot = -std::numeric_limits<double>::infinity()) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double sum = less_product(l[i * n + j], l + i * n, l + j * n, j);
      l[i * n + j] = i == j ? std::sqrt(std::max(sum, min_pivot)) : sum / l[j * n + j];
    }
    for (std::size_t k = 0; k < i; ++k) x[i] -= l[i * n + k] * x[k];
    x[i] /= l[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= l[k * n + i] * x[k];
    x[i] /= l[i * n + i];
  }
}

}  // namespace slide
