// Samples with dense features only, as a matrix for exact k-nearest-neighbour search by cosine.
//
// Rows are bfloat16, packed in the layout of the dot-product kernels (kernels/bf16.h). A search computes
// approximate scores of all rows for a batch of queries as one matrix product, then exact cosines of the best
// rows of each query. O(rows * columns) per query.
//
// Copies share the rows. Set all rows before the first copy; from then on the object is immutable and safe
// from any thread, with one Scratch per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/aligned.h"

namespace slide {

class DenseSamples {
 public:
  DenseSamples() = default;  // no columns
  // Allocates `rows` x `columns` zeros.
  DenseSamples(std::size_t columns, std::size_t rows);

  std::size_t columns() const { return columns_; }
  std::size_t size() const { return rows_; }
  std::size_t bytes() const { return words_ ? words_->bytes() : 0; }
  static double bytes_of(double columns, double rows);

  // Rounds values[columns()] to bfloat16 and stores them as row i.
  void set_row(std::size_t i, const float* values);
  // Writes row i to values[columns()] as floats.
  void get_row(std::size_t i, float* values) const;
  // Returns the given rows, in the given order.
  // with(): returns the rows of this object followed by the rows of `more`.
  DenseSamples chosen(std::span<const std::uint32_t> rows) const;
  DenseSamples with(const DenseSamples& more) const;
  bool same_row(std::size_t i, const DenseSamples& other, std::size_t row) const;

  using Similar = std::pair<float, std::uint32_t>;  // similarity, row number
  struct Scratch {
    AlignedArray<float> queries, queries_t;  // unit length; sample-major and unit-major
    AlignedArray<float> scores;              // of a tile of rows
    AlignedArray<float> row;
    std::vector<float> threshold;  // by query
    std::vector<std::uint32_t> hits, numbers;
    std::vector<std::vector<Similar>> best;  // by query: candidates for the most similar rows
  };

  // Approximate search: for each of the `queries` vectors x [queries x ldx], leaves the `limit` rows of
  // largest approximate cosine above 0 in scratch.best, unordered. A zero query finds no row.
  void find(const float* x, std::size_t ldx, std::size_t queries, std::size_t limit, Scratch& scratch) const;

  // Exact cosines (at most 1) of the rows that find() left for query q: those above 0, descending, ties by
  // lower row number.
  std::span<const Similar> compare(std::size_t q, Scratch& scratch) const;

 private:
  void copy_row(std::size_t i, const DenseSamples& from, std::size_t row);
  void take_queries(const float* x, std::size_t ldx, std::size_t queries, std::size_t lanes,
                    Scratch& scratch) const;
  const std::uint32_t* words(std::size_t i) const { return words_->data() + i * stride_; }

  std::size_t columns_ = 0, rows_ = 0, stride_ = 0;  // in words
  std::shared_ptr<AlignedArray<std::uint32_t>> words_;
};

}  // namespace slide
