// A matrix of weights. The row is the unit of everything: it is read, updated and saved as a whole, and a
// layer may own millions of them of which a step touches hundreds. What an optimizer remembers of a matrix
// stands apart (optimizer_state.h).
//
// Not synchronised: different threads may work on different rows.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "engine/base/aligned.h"
#include "engine/base/byte_io.h"
#include "engine/base/prefetch.h"
#include "engine/base/rng.h"
#include "engine/config/config.h"
#include "engine/kernels/int8.h"

namespace slide {

struct Parameters {
  Parameters() = default;
  // Zero weights. A row has `columns` weights and a stride of a whole number of cache lines; a single column
  // (biases) is stored without padding.
  Parameters(std::size_t row_count, std::size_t column_count, Precision precision = Precision::kFp32);

  std::size_t rows = 0;
  std::size_t columns = 0;
  // Where other processes have the rest of the matrix: whether so, the number of row 0 in the whole, and its
  // rows in all.
  bool shared = false;
  std::size_t first = 0;
  std::size_t all_rows = 0;
  std::size_t stride = 0;
  AlignedArray<float> weights;  // fp32: [rows x stride], padding stays zero
  std::size_t pair_stride = 0;
  AlignedArray<std::uint32_t> pairs;  // bf16: [rows x pair_stride] words, see kernels/bf16.h
  std::size_t byte_stride = 0;
  AlignedArray<std::int8_t> q, exponents;  // int8: [rows x byte_stride] and [rows], see kernels/int8.h

  void share(std::size_t first_row, std::size_t rows_in_all) {
    shared = true;
    first = first_row;
    all_rows = rows_in_all;
  }
  std::size_t first_in_file() const { return shared ? first : 0; }
  float* row(std::size_t r) { return weights.data() + r * stride; }
  const float* row(std::size_t r) const { return weights.data() + r * stride; }
  bool is_bf16() const { return pair_stride > 0; }
  // For inference alone: a byte for each weight. hold_int8() makes it so, all weights zero.
  bool is_int8() const { return byte_stride > 0; }
  void hold_int8();
  kernels::Int8Rows int8_rows(std::size_t from = 0) const {
    return {q.data() + from * byte_stride, byte_stride, exponents.data() + from};
  }
  bool is_fp32() const { return !is_bf16() && !is_int8(); }
  std::uint32_t* pair_row(std::size_t r) { return pairs.data() + r * pair_stride; }
  const std::uint32_t* pair_row(std::size_t r) const { return pairs.data() + r * pair_stride; }
  // Asks for row r before it is read or written.
  void prefetch_row(std::size_t r) const {
    if (is_int8()) return prefetch<Access::kWrite>(q.data() + r * byte_stride, byte_stride);
    const void* bytes = is_bf16() ? static_cast<const void*>(pair_row(r)) : row(r);
    const std::size_t length = is_bf16() ? pair_stride * sizeof(std::uint32_t) : columns * sizeof(float);
    prefetch<Access::kWrite>(bytes, length);
  }
  // x[columns] = row r in fp32, whatever the precision.
  void load_row(std::size_t r, float* x) const;
  // Row r = x[columns], in bfloat16 rounded to the nearest; not of bytes.
  void store_row(std::size_t r, const float* x);
  // Takes the weights off `in`, rows with their padding if `padded`, and refuses the first that is not finite
  // by `name`, row and column.
  void get(ByteReader& in, std::string_view name, bool padded);
  std::size_t bytes() const { return weights.bytes() + pairs.bytes() + q.bytes() + exponents.bytes(); }
  // Floats from row to row.
  static std::size_t stride_of(std::size_t column_count);
  // Of Parameters(row_count, column_count, precision).
  static std::size_t bytes_of(std::size_t row_count, std::size_t column_count,
                              Precision precision = Precision::kFp32);

  // Independent weights, uniform with standard deviation `scale`; row r is drawn from its own stream of
  // (seed, item), whatever the thread count. Memory comes from the node of the thread that writes it first:
  // thread t writes the rows in [ends[t - 1], ends[t]), to about a large page (parallel_owned()). Without
  // `ends`, pages go to the threads in turns.
  void fill_uniform(double scale, std::uint64_t seed, std::uint64_t item, int threads,
                    std::span<const std::size_t> ends = {});
};

// Takes `values` off `in`, all or the row `row` of an array of so many values a row, and refuses the first
// that is not finite by `name`, row and column.
void get_finite_rows(ByteReader& in, std::string_view name, std::size_t row, std::size_t stride,
                     std::span<float> values);

}  // namespace slide
