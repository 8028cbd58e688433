// Samples whose features are dense columns, kept to find which of them are most like others.
//
// Rows are bfloat16, in the form that products are made from (kernels/bf16.h). All of them are compared with
// a block of queries roughly, as a matrix product, and the best few of each query exactly.
//
// Copies share the rows. Rows are set before any is made; from then on it is immutable and safe from any
// thread, with a Scratch each.
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
  // So many rows of zeros.
  DenseSamples(std::size_t columns, std::size_t rows);

  std::size_t columns() const { return columns_; }
  std::size_t size() const { return rows_; }
  std::size_t bytes() const { return words_ ? words_->bytes() : 0; }
  static double bytes_of(double columns, double rows);

  // Row i becomes the nearest bfloat16 values of values[columns()].
  void set_row(std::size_t i, const float* values);
  // values[columns()] of row i.
  void get_row(std::size_t i, float* values) const;
  // These rows, in this order; and those of `more` behind these.
  DenseSamples chosen(std::span<const std::uint32_t> rows) const;
  DenseSamples with(const DenseSamples& more) const;
  bool same_row(std::size_t i, const DenseSamples& other, std::size_t row) const;

  using Similar = std::pair<float, std::uint32_t>;  // similarity, and number of a row
  struct Scratch {
    AlignedArray<float> queries, queries_t;  // of unit length, sample-major and unit-major
    AlignedArray<float> scores;              // of some rows
    AlignedArray<float> row;
    std::vector<float> threshold;  // by query
    std::vector<std::uint32_t> hits, numbers;
    std::vector<std::vector<Similar>> best;  // by query: what may be among its most alike
  };

  // Finds the `most` rows most like each of `queries` vectors x [queries x ldx], roughly, by their cosines;
  // those above 0 are left in scratch.best, in no order. A row of zeros finds none.
  void find(const float* x, std::size_t ldx, std::size_t queries, std::size_t most, Scratch& scratch) const;

  // What find() left of query q with exact cosines, at most 1: those above 0, the most alike first, of
  // equally alike ones that with the lower number.
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
