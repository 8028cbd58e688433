// A matrix of weights in fp32, bfloat16 or (inference only) int8. The unit of access is the row: a layer may
// have millions of rows, of which a step touches hundreds. Optimizer state is apart (optimizer_state.h).
//
// Thread safety: threads may access different rows at the same time.
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
  // Zero weights. The stride of a row is a whole number of cache lines; a single column (biases) has no
  // padding.
  Parameters(std::size_t row_count, std::size_t column_count, Precision precision = Precision::kFp32);

  std::size_t rows = 0;
  std::size_t columns = 0;
  // Matrix divided among processes:
  bool shared = false;
  std::size_t first = 0;     // number of row 0 in the whole matrix
  std::size_t all_rows = 0;  // rows of the whole matrix
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
  // Inference only: one byte per weight. hold_int8() changes the storage and sets all weights to 0.
  bool is_int8() const { return byte_stride > 0; }
  void hold_int8();
  kernels::Int8Rows int8_rows(std::size_t from = 0) const {
    return {q.data() + from * byte_stride, byte_stride, exponents.data() + from};
  }
  bool is_fp32() const { return !is_bf16() && !is_int8(); }
  std::uint32_t* pair_row(std::size_t r) { return pairs.data() + r * pair_stride; }
  const std::uint32_t* pair_row(std::size_t r) const { return pairs.data() + r * pair_stride; }
  // Prefetches row r for writing.
  void prefetch_row(std::size_t r) const {
    if (is_int8()) return prefetch<Access::kWrite>(q.data() + r * byte_stride, byte_stride);
    const void* bytes = is_bf16() ? static_cast<const void*>(pair_row(r)) : row(r);
    const std::size_t length = is_bf16() ? pair_stride * sizeof(std::uint32_t) : columns * sizeof(float);
    prefetch<Access::kWrite>(bytes, length);
  }
  // x[columns] = row r in fp32, whatever the precision.
  void load_row(std::size_t r, float* x) const;
  // Row r = x [columns], rounded to nearest in bfloat16. Not for int8.
  void store_row(std::size_t r, const float* x);
  // Reads the weights, rows with padding if `padded`. Throws InputError, with `name`, row and column, for the
  // first that is not finite.
  void get(ByteReader& in, std::string_view name, bool padded);
  std::size_t bytes() const { return weights.bytes() + pairs.bytes() + q.bytes() + exponents.bytes(); }
  // Stride in floats for rows of `column_count` weights.
  static std::size_t stride_of(std::size_t column_count);
  // bytes() of Parameters(row_count, column_count, precision).
  static std::size_t bytes_of(std::size_t row_count, std::size_t column_count,
                              Precision precision = Precision::kFp32);

  // Independent weights, uniform with mean 0 and standard deviation `scale`. Row r has its own stream of
  // (seed, item), so the result does not depend on the threads. A page lies on the NUMA node of the thread
  // that writes it first: thread t writes rows [ends[t - 1], ends[t]), rounded to large pages
  // (parallel_owned()); without `ends`, pages alternate between the threads.
  void fill_uniform(double scale, std::uint64_t seed, std::uint64_t item, int threads,
                    std::span<const std::size_t> ends = {});
};

// Reads `values`, which begin with row `row` and have `stride` values per row. Throws InputError, with
// `name`, row and column, for the first value that is not finite.
void get_finite_rows(ByteReader& in, std::string_view name, std::size_t row, std::size_t stride,
                     std::span<float> values);

}  // namespace slide
