// Dense features of a data set: a number for each sample and column, as they lie in a file or in an array of
// a caller. Rows are widened and scaled on their way out, so that they are held once, in the size that they
// came in.
//
// Immutable and safe to read from any thread. Views the numbers and shares their ownership: copies, slices
// and choices of rows are cheap.
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

// Rows of numbers, one behind the other, at any address, in the byte order of this machine.
struct DenseMatrix {
  std::string_view bytes;  // rows * columns items
  DenseType type = DenseType::kFloat32;
  std::size_t rows = 0, columns = 0;
};

class DenseRows {
 public:
  DenseRows() = default;  // no columns
  // Views a matrix that `storage` keeps alive; goes over all of it once. `normalize`: rows get unit Euclidean
  // length, but a row of zeros stays. Throws InputError, naming `origin`, row and column, for the first
  // number that is not finite, and for a row whose length no float holds.
  DenseRows(std::shared_ptr<const void> storage, const DenseMatrix& matrix, bool normalize, int threads,
            const std::string& origin);

  std::size_t columns() const { return matrix_.columns; }
  std::size_t size() const { return count_; }
  DenseType type() const { return matrix_.type; }
  bool normalized() const { return scales_ != nullptr; }

  // to[columns()] = row number `row`.
  void copy_row(std::size_t row, float* to) const;

  // The same rows with unit length, as above.
  DenseRows of_unit_length(int threads) const;

  // Rows [first, first + count), and these rows in this order; they must be there.
  DenseRows slice(std::size_t first, std::size_t count) const;
  DenseRows chosen(std::span<const std::uint32_t> rows) const;

 private:
  std::size_t place(std::size_t row) const { return chosen_ ? (*chosen_)[first_ + row] : first_ + row; }
  void widen(std::size_t place, float* to) const;
  void take_lengths(bool normalize, int threads, const std::string& origin);

  std::shared_ptr<const void> storage_;
  DenseMatrix matrix_;
  std::shared_ptr<const std::vector<float>> scales_;  // by row of the matrix (scale_of()); nullptr: all are 1
  std::shared_ptr<const std::vector<std::uint32_t>> chosen_;  // rows of the matrix; nullptr: all of them
  std::size_t first_ = 0, count_ = 0;                         // of those
};

}  // namespace slide
