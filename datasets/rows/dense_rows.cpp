#include "datasets/rows/dense_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::size_t kDenseRowsAtOnce = 1024;  // rows per task
constexpr std::size_t kNone = ~std::size_t{0};

std::size_t bytes_of_number(DenseType type) {
  return type == DenseType::kFloat16 ? sizeof(std::uint16_t) : sizeof(float);
}

// float16 to float: shifts the exponent; the factor corrects the bias and makes denormals exact. Infinity and
// NaN become numbers beyond kLargestHalf.
constexpr float kLargestHalf = 65504.0F;
float widened(std::uint16_t half) {
  const auto rest = std::bit_cast<float>(static_cast<std::uint32_t>(half & 0x7fffU) << 13) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(rest) | static_cast<std::uint32_t>(half & 0x8000U)
                                                                       << 16);
}

// Factor for unit length. Negative where the factor overflows a float (rows of tiny numbers): it then applies
// to the row multiplied by kLift.
constexpr float kLift = 0x1p64F;
float scale_of(double square) {
  if (square == 0) return 1.0F;
  const double scale = 1.0 / std::sqrt(square);
  const bool fits = scale <= double{std::numeric_limits<float>::max()};
  return static_cast<float>(fits ? scale : -scale / double{kLift});
}

// First column with a number that is not finite, or kNone.
std::size_t find_bad(const float* row, std::size_t columns, float largest) {
  const float* bad = std::find_if(row, row + columns, [&](float x) { return !(std::fabs(x) <= largest); });
  return bad == row + columns ? kNone : static_cast<std::size_t>(bad - row);
}

}  // namespace

DenseRows::DenseRows(std::shared_ptr<const void> storage, const DenseMatrix& matrix, bool normalize,
                     int threads, const std::string& origin)
    : storage_(std::move(storage)), matrix_(matrix), count_(matrix.rows) {
  take_lengths(normalize, threads, origin);
}

// Checks that all numbers are finite; InputError names the first other one. With `normalize` sets scales_,
// the factor of each row to unit length.
void DenseRows::take_lengths(bool normalize, int threads, const std::string& origin) {
  const std::size_t rows = matrix_.rows, columns = matrix_.columns;
  const float largest = type() == DenseType::kFloat16 ? kLargestHalf : std::numeric_limits<float>::max();
  auto scales = std::make_shared<std::vector<float>>(rows, 1.0F);
  const std::size_t tasks = (rows + kDenseRowsAtOnce - 1) / kDenseRowsAtOnce;
  std::vector<std::size_t> bad(tasks, kNone);  // first invalid position of each task
  parallel_for(tasks, threads, [&](std::size_t task, int) {
    std::vector<float> row(columns);
    for (std::size_t r = task * kDenseRowsAtOnce; r < std::min(rows, (task + 1) * kDenseRowsAtOnce); ++r) {
      widen(r, row.data());
      const std::size_t at = find_bad(row.data(), columns, largest);
      double square = 0.0;
      for (const float x : row) square += double{x} * double{x};
      if (at != kNone) {
        bad[task] = r * columns + at;
        return;
      }
      (*scales)[r] = scale_of(square);
    }
  });
  for (const std::size_t at : bad) {
    if (at == kNone) continue;
    fail_input("{}: row {}, column {} (from 0) holds no finite number; correct the features", origin,
               at / columns, at % columns);
  }
  if (normalize) scales_ = std::move(scales);
}

// Copies row `place` of the matrix as floats.
void DenseRows::widen(std::size_t place, float* to) const {
  const std::size_t columns = matrix_.columns;
  const char* from = matrix_.bytes.data() + place * columns * bytes_of_number(matrix_.type);
  if (matrix_.type == DenseType::kFloat32) {
    std::memcpy(to, from, columns * sizeof(float));
    return;
  }
  for (std::size_t c = 0; c < columns; ++c) {
    std::uint16_t half;
    std::memcpy(&half, from + c * sizeof half, sizeof half);
    to[c] = widened(half);
  }
}

// Copies a row as floats, scaled to unit length where there are factors; kLift says what negative ones mean.
void DenseRows::copy_row(std::size_t row, float* to) const {
  const std::size_t at = place(row);
  widen(at, to);
  if (!scales_) return;
  float scale = (*scales_)[at];
  if (scale < 0) {
    for (std::size_t c = 0; c < matrix_.columns; ++c) to[c] *= kLift;
    scale = -scale;
  }
  for (std::size_t c = 0; c < matrix_.columns; ++c) to[c] *= scale;
}

DenseRows DenseRows::of_unit_length(int threads) const {
  DenseRows rows = *this;
  rows.take_lengths(true, threads, "features");
  return rows;
}

DenseRows DenseRows::slice(std::size_t first, std::size_t count) const {
  DenseRows part = *this;
  part.first_ += first;
  part.count_ = count;
  return part;
}

// A view of some rows: only their places in the matrix are stored.
DenseRows DenseRows::chosen(std::span<const std::uint32_t> rows) const {
  DenseRows part = *this;
  if (columns() == 0) return part;
  auto places = std::make_shared<std::vector<std::uint32_t>>();
  places->reserve(rows.size());
  for (const std::uint32_t row : rows) places->push_back(static_cast<std::uint32_t>(place(row)));
  part.chosen_ = std::move(places);
  part.first_ = 0;
  part.count_ = rows.size();
  return part;
}

}  // namespace slide
