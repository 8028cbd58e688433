// Inversion of large symmetric positive definite matrices in float32. One object per matrix and thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"

namespace slide {

// In-place inversion of a symmetric positive definite matrix [size x size], size a multiple of kPivots:
// blocked Gauss-Jordan elimination, with matrix products by the kernels.
class BlockInverse {
 public:
  static constexpr std::size_t kPivots = 64;  // rows eliminated per step
  // The least multiple of kPivots that holds `rows`.
  static std::size_t stride_of(std::size_t rows) { return (rows + kPivots - 1) / kPivots * kPivots; }

  BlockInverse(float* matrix, std::size_t size)
      : matrix_(matrix), size_(size), pivot_rows_(kPivots * size), ids_(kPivots) {
    std::iota(ids_.begin(), ids_.end(), 0U);
  }

  // Each step replaces kPivots rows and columns from `first` on. With the pivot block P [kPivots x kPivots]
  // on the diagonal, R the pivots' rows and C the pivots' columns of all other rows A:
  //   P := P^-1, R := P^-1 R, A := A - C R, C := -C P^-1.
  void run(int threads) {
    std::vector<AlignedArray<float>> factors;  // by thread: scratch of eliminate()
    for (int t = 0; t < std::max(1, threads); ++t) factors.emplace_back(kPivots * kPivots);
    for (std::size_t first = 0; first < size_; first += kPivots) {
      invert_pivots(first);
      parallel_for((size_ + kColumns - 1) / kColumns, threads,
                   [&](std::size_t task, int) { multiply_pivots(first, task * kColumns); });
      parallel_for(size_ / kPivots, threads, [&](std::size_t block, int thread) {
        eliminate(first, block * kPivots, factors[static_cast<std::size_t>(thread)].data());
      });
    }
  }

 private:
  using PivotBlock = std::array<double, kPivots * kPivots>;
  static constexpr std::size_t kColumns = 512;  // columns per multiplication task

  // In-place Gauss-Jordan inversion of a positive definite matrix, without pivoting.
  static void invert(PivotBlock& a) {
    for (std::size_t k = 0; k < kPivots; ++k) {
      const double pivot = 1.0 / a[k * kPivots + k];
      a[k * kPivots + k] = 1.0;
      for (std::size_t j = 0; j < kPivots; ++j) a[k * kPivots + j] *= pivot;
      for (std::size_t i = 0; i < kPivots; ++i) {
        if (i == k) continue;
        const double factor = a[i * kPivots + k];
        a[i * kPivots + k] = 0.0;
        for (std::size_t j = 0; j < kPivots; ++j) a[i * kPivots + j] -= factor * a[k * kPivots + j];
      }
    }
  }

  // pivots_ = P^-1; inverse_ = its transpose in float32, as the kernel of multiply_pivots() takes it.
  void invert_pivots(std::size_t first) {
    for (std::size_t i = 0; i < kPivots; ++i)
      std::copy_n(matrix_ + (first + i) * size_ + first, kPivots, pivots_.begin() + i * kPivots);
    invert(pivots_);
    for (std::size_t a = 0; a < kPivots; ++a) {
      for (std::size_t b = 0; b < kPivots; ++b)
        inverse_[a * kPivots + b] = static_cast<float>(pivots_[b * kPivots + a]);
    }
  }

  // pivot_rows_ = P^-1 R, and P^-1 itself in the pivots' own columns, for kColumns columns from `column` on.
  void multiply_pivots(std::size_t first, std::size_t column) {
    const std::size_t count = std::min(kColumns, size_ - column);
    for (std::size_t i = 0; i < kPivots; ++i)
      std::fill_n(pivot_rows_.data() + i * size_ + column, count, 0.0F);
    kernels::active().rows_backward_input(matrix_ + first * size_ + column, size_, ids_.data(), kPivots,
                                          inverse_.data(), count, kPivots, pivot_rows_.data() + column,
                                          size_);
    if (first < column || first >= column + count) return;
    for (std::size_t i = 0; i < kPivots; ++i) {
      for (std::size_t j = 0; j < kPivots; ++j)
        pivot_rows_.data()[i * size_ + first + j] = static_cast<float>(pivots_[i * kPivots + j]);
    }
  }

  // A := A - C R for kPivots rows from `block` on, with R in pivot_rows_. C is 0 before the product: the
  // pivots' columns of pivot_rows_ hold P^-1, so they become -C P^-1. The pivots' own rows become
  // pivot_rows_. factors [kPivots x kPivots]: -C, transposed.
  void eliminate(std::size_t first, std::size_t block, float* factors) {
    float* rows = matrix_ + block * size_;
    if (block == first) {
      std::copy_n(pivot_rows_.data(), kPivots * size_, rows);
      return;
    }
    for (std::size_t b = 0; b < kPivots; ++b) {
      float* c = rows + b * size_ + first;
      for (std::size_t a = 0; a < kPivots; ++a) factors[a * kPivots + b] = -c[a];
      std::fill_n(c, kPivots, 0.0F);
    }
    kernels::active().rows_backward_input(pivot_rows_.data(), size_, ids_.data(), kPivots, factors, size_,
                                          kPivots, rows, size_);
  }

  float* matrix_;
  std::size_t size_;
  AlignedArray<float> pivot_rows_;  // [kPivots x size]
  std::vector<std::uint32_t> ids_;  // 0, 1, ...: row numbers for the kernel
  PivotBlock pivots_{};             // the pivot block, then its inverse
  AlignedArray<float> inverse_{kPivots * kPivots};
};

}  // namespace slide
