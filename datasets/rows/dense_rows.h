// Dense features of a data set: a row-major matrix in a file or a caller's array. Rows are converted to float
// and scaled when read, so that the matrix is stored once, in its original size.
//
// Immutable, safe from any thread. Views the numbers and shares their ownership: copies, slices and
// selections are cheap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace slide {

enum class DenseType : std::uint8_t { kFloat32, kFloat16 };

// Row-major numbers at any alignment, in native byte order.
struct DenseMatrix {
  std::string_view bytes;  // rows * columns numbers
  DenseType type = DenseType::kFloat32;
  std::size_t rows = 0, columns = 0;
};

class DenseRows {
 public:
  DenseRows() = default;  // no columns
  // Views a matrix that `storage` keeps alive, after one checking pass. `normalize`: scales rows to unit
  // Euclidean length (zero rows stay). Throws InputError, with `origin`, row and column, for the first number
  // that is not finite, and for a row whose length overflows a float.
  DenseRows(std::shared_ptr<const void> storage, const DenseMatrix& matrix, bool normalize, int threads,
            const std::string& origin);

  std::size_t columns() const { return matrix_.columns; }
  std::size_t size() const { return count_; }
  DenseType type() const { return matrix_.type; }

  // Writes row `row` to to[columns()].
  void copy_row(std::size_t row, float* to) const;

  // The same rows scaled to unit length, as above.
  DenseRows of_unit_length(int threads) const;

  // Rows [first, first + count); and the given rows in the given order. All must exist.
  DenseRows slice(std::size_t first, std::size_t count) const;
  DenseRows chosen(std::span<const std::uint32_t> rows) const;

 private:
  std::size_t place(std::size_t row) const { return chosen_ ? (*chosen_)[first_ + row] : first_ + row; }
  void widen(std::size_t place, float* to) const;
  void take_lengths(bool normalize, int threads, const std::string& origin);

  std::shared_ptr<const void> storage_;
  DenseMatrix matrix_;
  std::shared_ptr<const std::vector<float>> scales_;  // by row of the matrix (scale_of()); nullptr: all 1
  std::shared_ptr<const std::vector<std::uint32_t>> chosen_;  // rows of the matrix; nullptr: all
  std::size_t first_ = 0, count_ = 0;                         // range within `chosen_`
};

}  // namespace slide
