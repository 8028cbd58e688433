// The numeric kernels: plain pointers in and out, one implementation per instruction set.
//
// Two layouts occur. A block of B samples over n units is either *sample-major* `x[b*n + k]` (units
// contiguous) or *unit-major* `xt[k*lanes + b]` (samples contiguous, `lanes` >= B). `lanes` is 1 (a single
// sample, the two layouts coincide) or a multiple of kLaneMultiple; padding lanes hold arbitrary values that
// callers ignore. Rows of weight matrices have a stride `ldw` that is a multiple of kLaneMultiple floats.
//
// Kernels keep no state, do not allocate and do not throw: safe from any thread on disjoint outputs. The
// `scalar` set is the specification; every other set must agree with it up to rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/kernels/int8.h"

namespace slide::kernels {

inline constexpr std::size_t kLaneMultiple = 16;  // floats in the widest register

using std::size_t;
using std::uint16_t;
using std::uint32_t;

// Row stride in floats for `columns` columns: whole registers, but never a multiple of 1 KB. Kernels read a
// few columns of many rows at a time, which would otherwise map to few sets of the first-level cache.
constexpr size_t spread_stride(size_t columns) {
  const size_t whole = (columns + kLaneMultiple - 1) / kLaneMultiple * kLaneMultiple;
  return whole % 256 == 0 ? whole + kLaneMultiple : whole;
}

// Entries of the linear term grouped by kind, that is by how a block stores a feature's values
// (BlockFeatures): for each kind, their positions and weights.
inline constexpr uint32_t kKinds = 4;
struct Parts {
  size_t count[kKinds];
  uint32_t* places[kKinds];
  float* weights[kKinds];
};

struct KernelSet {
  const char* name;
  // Whether rows_forward_bf16 is faster than rows_forward: the processor has native bfloat16 arithmetic.
  bool fast_bf16;
  // Whether rows_forward_int8 is faster than both.
  bool fast_int8;

  // z[a*lanes + b] = shift[a] + sum_k w[ids[a]*ldw + k] * xt[k*lanes + b]      a < rows, k < inner
  // shift may be nullptr (zeros); xt may be nullptr where inner is 0.
  void (*rows_forward)(const float* w, size_t ldw, const uint32_t* ids, size_t rows, const float* shift,
                       const float* xt, size_t inner, size_t lanes, float* z);
  // rows_forward from bfloat16 rows (bf16.h) of ldw words. xt is rounded to the nearest bfloat16, ties to
  // even; products are exact, sums are fp32. Denormals may count as 0.
  void (*rows_forward_bf16)(const uint32_t* w, size_t ldw, const uint32_t* ids, size_t rows,
                            const float* shift, const float* xt, size_t inner, size_t lanes, float* z);
  // z[a*lanes + b] = shift[a] + 2^exponents[a] * steps[b] * (start[a] + sum_k w[a, k] * x[k, b])
  //                                                                            a < rows, k < x.columns
  // For consecutive int8 rows and uint8 samples (int8.h); the sum is in integers, of at most kMaxInt8Columns
  // columns. start may be nullptr (zeros). lanes is a multiple of kLaneMultiple, or 1.
  void (*rows_forward_int8)(const Int8Rows& w, size_t rows, const std::int32_t* start, const float* shift,
                            const ByteSamples& x, float* z);
  // dx[b*ldx + k] += sum_a w[ids[a]*ldw + k] * d[a*lanes + b]                  a < rows, k < inner, b < lanes
  void (*rows_backward_input)(const float* w, size_t ldw, const uint32_t* ids, size_t rows, const float* d,
                              size_t inner, size_t lanes, float* dx, size_t ldx);
  // g[r][k] += sum_b d[r][b] * x[b*ldx + k]                                    r < rows, b < samples, k <
  // inner
  void (*rows_gradient)(const float* const* d, size_t rows, size_t samples, const float* x, size_t ldx,
                        size_t inner, float* const* g);

  // h[k] += sum_i values[i] * w[ids[i]*ldw + k]                                i < count, k < n
  void (*gather_rows)(const float* w, size_t ldw, const uint32_t* ids, const float* values, size_t count,
                      size_t n, float* h);
  // h[ids[i]*ldh + k] += values[i] * x[k]                                      i < count, k < n
  // Stops before the first ids[i] >= bound; returns the number of processed ids.
  size_t (*scatter_rows)(const uint32_t* ids, const float* values, size_t count, uint32_t bound,
                         const float* x, size_t n, float* h, size_t ldh);
  // gather_rows from bfloat16 rows of ldw words.
  void (*gather_rows_bf16)(const uint32_t* w, size_t ldw, const uint32_t* ids, const float* values,
                           size_t count, size_t n, float* h);
  float (*dot)(const float* x, const float* y, size_t n);
  // sum_i values[i] * x[ids[i]]                                                i < count
  float (*gather_dot)(const float* x, const uint32_t* ids, const float* values, size_t count);
  float (*sum)(const float* x, size_t n);
  void (*axpy)(float scale, const float* x, size_t n, float* y);  // y += scale * x

  // out[c*ldo + r] = in[r*ldi + c]                                             r < rows, c < columns
  void (*transpose)(const float* in, size_t ldi, size_t rows, size_t columns, size_t ldo, float* out);

  // Selects all entries with z[a*lanes + b] > threshold[b]: writes a*lanes + b to hits, row by row; returns
  // their number. hits has room for rows*lanes + 1 entries.
  size_t (*select_above)(const float* z, size_t rows, size_t lanes, const float* threshold, uint32_t* hits);

  // smallest[a] = min over b < samples of (max over rows r of z[r*lanes + b]) - z[a*lanes + b]: how far row a
  // is behind the best row, in the column where it is nearest. 0 < samples <= lanes.
  void (*behind_best)(const float* z, size_t rows, size_t lanes, size_t samples, float* smallest);

  // Sign bits of v[j][b] = z[j*lanes + b] + scale[j] * extra[b], j < k <= 32: bit j of prints[b] is set where
  // v[j][b] >= 0 (not for NaN). scale and extra may both be nullptr (zeros). nearest (may be nullptr):
  // nearest[b] has only the bit j of least |v[j][b]| set, ties to the lower j; a NaN is skipped, except at j
  // = 0, where it stays.
  void (*pack_signs)(const float* z, const float* scale, const float* extra, size_t k, size_t lanes,
                     uint32_t* prints, uint32_t* nearest);

  // Stochastic gradient sparsification: replaces every d[i] with |d[i]| < threshold by +-threshold, with the
  // sign of d[i], with probability |d[i]| / threshold, else by 0, which preserves the mean (random bits:
  // rounding_bits(noise, i), bf16.h). Lists the nonzero entries: places[j] = i, values[j] = d[i]; returns
  // their number. The lists have room for n + 1 entries.
  size_t (*sparsify)(float* d, size_t n, float threshold, uint32_t noise, uint32_t* places, float* values);

  // Selects the entries i < count whose ids[i] is set in `bits`: sets bit i % 16 of masks[i / 16] and appends
  // their columns and w[i] to `columns` and `values`, which have room for count + kLaneMultiple entries. The
  // column of id is first[id / 32] + the number of lower bits set in its word. Returns the number of selected
  // entries.
  size_t (*find_present)(const uint32_t* ids, const float* w, size_t count, const uint32_t* bits,
                         const uint32_t* first, uint16_t* masks, uint32_t* columns, float* values);
  // Groups w[i], i < count, by the kind of their columns: places[column] is position * kKinds + kind. The
  // arrays of `parts` have room for count + kLaneMultiple entries; bit i % 16 of masks[i / 16 * kKinds +
  // kind] records the kind of i.
  void (*part_kinds)(const uint32_t* columns, const float* w, size_t count, const uint32_t* places,
                     uint16_t* masks, Parts& parts);
  // Inverse of part_kinds: g[i], i < count, from one value per entry of each part.
  void (*join_kinds)(const uint16_t* masks, size_t count, const float* const* parts, float* g);

  // Softmax over the rows of z [rows x ldz], one distribution per column b < lanes, in place: z becomes scale
  // * probability. log_norm[b] = log sum_a exp(z[a*ldz + b]) of the input. ldz is `lanes` or a multiple of
  // kLaneMultiple.
  void (*softmax_lanes)(float* z, size_t ldz, size_t rows, size_t lanes, float scale, float* log_norm);
  // Logistic loss of n negatives of equal weight: returns weight * sum_i log(1 + exp(z[i])) and replaces z by
  // its gradient, z[i] = weight / (1 + exp(-z[i])).
  float (*logistic_loss)(float* z, size_t n, float weight);

  // x[i] = exp(x[i]), accurate to a few units in the last place; infinity from 710 on.
  void (*exp)(double* x, size_t n);

  // Activations in place, and their backward forms: d[i] *= f'(.), computed from the outputs y[i] = f(.).
  void (*relu)(float* z, size_t n);
  void (*sigmoid)(float* z, size_t n);
  void (*tanh)(float* z, size_t n);
  void (*relu_backward)(const float* y, size_t n, float* d);
  void (*sigmoid_backward)(const float* y, size_t n, float* d);
  void (*tanh_backward)(const float* y, size_t n, float* d);

  // Optimizer updates of one row of n weights from its gradient g. `rate` is the learning rate of the step.
  // decay: w -= rate*decay*w is applied first (decoupled, Loshchilov and Hutter 2019).
  void (*sgd_row)(float* w, const float* g, size_t n, float rate, float decay);
  void (*momentum_row)(float* w, float* velocity, const float* g, size_t n, float rate, float decay,
                       float momentum);
  // Adagrad with one accumulator per row: accumulator += mean(g^2); w -= rate * g / (sqrt(accumulator) +
  // epsilon).
  void (*adagrad_row)(float* w, float* accumulator, const float* g, size_t n, float rate, float decay,
                      float epsilon);
  // w = (1 - rate*decay)*w - rate*g for a bfloat16 row with stochastic rounding by `noise`: SGD, and Adagrad
  // with the row's learning rate.
  void (*sgd_row_bf16)(uint32_t* w, const float* g, size_t n, float rate, float decay, uint32_t noise);
  void (*widen)(const uint32_t* w, size_t n, float* x);  // x = w, n columns
  // Conversion of int8 row r (int8.h) to n floats, and to a bfloat16 row of n columns.
  void (*widen_int8)(const Int8Rows& w, size_t r, size_t n, float* x);
  void (*pair_int8)(const Int8Rows& w, size_t r, size_t n, uint32_t* pairs);
  // gather_rows from int8 rows.
  void (*gather_rows_int8)(const Int8Rows& w, const uint32_t* ids, const float* values, size_t count,
                           size_t n, float* h);
  // z[a] += sum_k w[ids[a], k] * x[k]                                          a < rows; n is a multiple of
  // 32
  void (*add_dots_int8)(const Int8Rows& w, const uint32_t* ids, size_t rows, const float* x, size_t n,
                        float* z);
  // Quantizes n finite floats x to an int8 row: 2^exponent is the least power from 2^-126 to 2^120 for which
  // no value exceeds 127 (beyond 2^120 values are clipped to 127); values are rounded to nearest. Zero-pads
  // to a multiple of kPairGroup. Returns the exponent.
  int (*narrow_int8)(const float* x, size_t n, std::int8_t* q);
  // w = x, stochastic rounding by `noise`
  void (*narrow)(const float* x, size_t n, uint32_t noise, uint32_t* w);
  void (*narrow_nearest)(const float* x, size_t n, uint32_t* w);  // w = x, rounded as nearest_bf16() does
  // Adagrad with one accumulator per weight, initialised to 1 (stored as 0), on the weights selected by
  // `masks` (see find_present); g holds their gradients consecutively. With h = scale * g: accumulators[i] +=
  // h^2; w[i] -= rate * h / sqrt(1 + accumulators[i]).
  void (*adagrad_masked)(float* w, float* accumulators, const uint16_t* masks, size_t count, const float* g,
                         float scale, float rate);
  // Adam (Kingma and Ba 2015, algorithm 1); rate already includes the bias corrections for the row's own step
  // count.
  void (*adam_row)(float* w, float* m, float* v, const float* g, size_t n, float rate, float decay,
                   float beta1, float beta2, float epsilon);
};

// The set in use: the last of available(), or the one that the environment variable SLIDE_SIMD names. Throws
// InputError where that is unknown or not supported by the machine. Decided at the first call; thread-safe.
const KernelSet& active();

// The sets that this machine supports, from scalar to the fastest: scalar, avx2, avx512, avx512_vnni,
// avx512_bf16, amx; or scalar, neon, neon_dotprod, neon_i8mm, neon_bf16.
std::vector<const KernelSet*> available();

// The set called `name`, or nullptr where the build or the machine lacks it.
const KernelSet* find(std::string_view name);

}  // namespace slide::kernels
