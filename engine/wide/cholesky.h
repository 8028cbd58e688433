// Small systems of linear equations. Pure functions, safe from any thread.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace slide {

// x [n] = the solution of A x = b, with b in `x`, where A [n x n] is symmetric and positive definite and its
// lower half in `l`, which becomes Cholesky's factor L, A = L L^T. Squares on L's diagonal are at least
// `least`.
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
