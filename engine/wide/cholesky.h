// Solution of small symmetric positive definite systems. Pure functions, safe from any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace slide {

// Solves A x = b by Cholesky decomposition, O(n^3). `x` [n]: b on entry, the solution on return. `l` [n x n]:
// the lower half of the symmetric positive definite matrix A on entry, its Cholesky factor L (A = L L^T) on
// return. Pivots (squares of L's diagonal) are at least `least`.
inline void solve_by_cholesky(std::size_t n, double* l, double* x,
                              double least = -std::numeric_limits<double>::infinity()) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = l[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i == j ? std::sqrt(std::max(sum, least)) : sum / l[j * n + j];
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
