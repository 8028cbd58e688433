// Scalar kernels: the specification of every kernel, and the fallback on all machines. kernels.h describes
// the layouts and the arguments; each function here is the KernelSet member of the same name.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/scalar_selection.h"

namespace slide::kernels {
namespace {

// z [rows x lanes] = shift + W[ids] X: weight rows times samples, xt [inner x lanes].
void rows_forward(const float* w, size_t ldw, const uint32_t* ids, size_t rows, const float* shift,
                  const float* xt, size_t inner, size_t lanes, float* z) {
  for (size_t a = 0; a < rows; ++a) {
    const float* row = w + ids[a] * ldw;
    float* out = z + a * lanes;
    for (size_t b = 0; b < lanes; ++b) out[b] = shift == nullptr ? 0.0f : shift[a];
    for (size_t k = 0; k < inner; ++k) {
      for (size_t b = 0; b < lanes; ++b) out[b] += row[k] * xt[k * lanes + b];
    }
  }
}

// The same from bfloat16 rows; xt is rounded to bfloat16.
void rows_forward_bf16(const uint32_t* w, size_t ldw, const uint32_t* ids, size_t rows, const float* shift,
                       const float* xt, size_t inner, size_t lanes, float* z) {
  for (size_t a = 0; a < rows; ++a) {
    const uint32_t* row = w + ids[a] * ldw;
    float* out = z + a * lanes;
    for (size_t b = 0; b < lanes; ++b) out[b] = shift == nullptr ? 0.0f : shift[a];
    for (size_t k = 0; k < inner; ++k) {
      for (size_t b = 0; b < lanes; ++b) {
        out[b] += pair_value(row, k) * nearest_bf16(xt[k * lanes + b]);
      }
    }
  }
}

// z [rows x lanes] from int8 rows and uint8 samples, whose words hold four columns each (int8.h).
void rows_forward_int8(const Int8Rows& w, size_t rows, const std::int32_t* start, const float* shift,
                       const ByteSamples& x, float* z) {
  for (size_t a = 0; a < rows; ++a) {
    for (size_t b = 0; b < x.lanes; ++b) {
      std::int32_t sum = start == nullptr ? 0 : start[a];
      for (size_t k = 0; k < x.columns; ++k)
        sum += w.row(a)[k] * static_cast<std::int32_t>(x.words[k / 4 * x.lanes + b] >> (k % 4 * 8) & 255u);
      z[a * x.lanes + b] = shift[a] + int8_factor(w.exponents[a]) * x.steps[b] * static_cast<float>(sum);
    }
  }
}

// dX [lanes x ldx] += D^T W[ids]: input gradients from output gradients d [rows x lanes].
void rows_backward_input(const float* w, size_t ldw, const uint32_t* ids, size_t rows, const float* d,
                         size_t inner, size_t lanes, float* dx, size_t ldx) {
  for (size_t a = 0; a < rows; ++a) {
    const float* row = w + ids[a] * ldw;
    for (size_t k = 0; k < inner; ++k) {
      for (size_t b = 0; b < lanes; ++b) dx[b * ldx + k] += row[k] * d[a * lanes + b];
    }
  }
}

// G [rows x inner] += D X: weight gradients from output gradients d[r] [samples] and inputs x [samples x
// ldx].
void rows_gradient(const float* const* d, size_t rows, size_t samples, const float* x, size_t ldx,
                   size_t inner, float* const* g) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t b = 0; b < samples; ++b) {
      for (size_t k = 0; k < inner; ++k) g[r][k] += d[r][b] * x[b * ldx + k];
    }
  }
}

void gather_rows(const float* w, size_t ldw, const uint32_t* ids, const float* values, size_t count, size_t n,
                 float* h) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < n; ++k) h[k] += values[i] * w[ids[i] * ldw + k];
  }
}

void gather_rows_bf16(const uint32_t* w, size_t ldw, const uint32_t* ids, const float* values, size_t count,
                      size_t n, float* h) {
  for (size_t i = 0; i < count; ++i) {
    for (size_t k = 0; k < n; ++k) h[k] += values[i] * pair_value(w + ids[i] * ldw, k);
  }
}

float dot(const float* x, const float* y, size_t n) {
  return std::inner_product(x, x + n, y, 0.0f);
}

float gather_dot(const float* x, const uint32_t* ids, const float* values, size_t count) {
  float sum = 0.0f;
  for (size_t i = 0; i < count; ++i) sum += values[i] * x[ids[i]];
  return sum;
}

float sum(const float* x, size_t n) {
  return std::accumulate(x, x + n, 0.0f);
}

void axpy(float scale, const float* x, size_t n, float* y) {
  for (size_t k = 0; k < n; ++k) y[k] += scale * x[k];
}

void transpose(const float* in, size_t ldi, size_t rows, size_t columns, size_t ldo, float* out) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t c = 0; c < columns; ++c) out[c * ldo + r] = in[r * ldi + c];
  }
}

// Softmax of each column of z [rows x ldz]. Subtracts the column's maximum first, against overflow.
void softmax_lanes(float* z, size_t ldz, size_t rows, size_t lanes, float scale, float* log_norm) {
  for (size_t b = 0; b < lanes; ++b) {
    float largest = z[b];
    for (size_t a = 1; a < rows; ++a) largest = std::max(largest, z[a * ldz + b]);
    float sum = 0.0f;
    for (size_t a = 0; a < rows; ++a) {
      z[a * ldz + b] = std::exp(z[a * ldz + b] - largest);
      sum += z[a * ldz + b];
    }
    for (size_t a = 0; a < rows; ++a) z[a * ldz + b] *= scale / sum;
    log_norm[b] = largest + std::log(sum);
  }
}

// Sigmoid loss and its gradients. e = exp(-|z|) is at most 1, so that large logits do not overflow.
float logistic_loss(float* z, size_t n, float weight) {
  float sum = 0.0f;
  for (size_t i = 0; i < n; ++i) {
    const float e = std::exp(-std::fabs(z[i]));
    sum += std::max(z[i], 0.0f) + std::log(1.0f + e);
    z[i] = weight * (z[i] >= 0.0f ? 1.0f : e) / (1.0f + e);
  }
  return weight * sum;
}

void relu(float* z, size_t n) {
  for (size_t i = 0; i < n; ++i) z[i] = z[i] > 0.0f ? z[i] : 0.0f;
}

void relu_backward(const float* y, size_t n, float* d) {
  for (size_t i = 0; i < n; ++i) d[i] = y[i] > 0.0f ? d[i] : 0.0f;
}

void sigmoid_backward(const float* y, size_t n, float* d) {
  for (size_t i = 0; i < n; ++i) d[i] *= y[i] * (1.0f - y[i]);
}

void tanh_backward(const float* y, size_t n, float* d) {
  for (size_t i = 0; i < n; ++i) d[i] *= 1.0f - y[i] * y[i];
}

void exp_doubles(double* x, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] = std::exp(x[i]);
}

void sigmoid(float* z, size_t n) {
  for (size_t i = 0; i < n; ++i) z[i] = 1.0f / (1.0f + std::exp(-z[i]));
}

void tanh(float* z, size_t n) {
  for (size_t i = 0; i < n; ++i) z[i] = std::tanh(z[i]);
}

void sgd_row(float* w, const float* g, size_t n, float rate, float decay) {
  for (size_t k = 0; k < n; ++k) w[k] = (1.0f - rate * decay) * w[k] - rate * g[k];
}

// Heavy-ball momentum: velocity = momentum * velocity + g; w -= rate * velocity.
void momentum_row(float* w, float* velocity, const float* g, size_t n, float rate, float decay,
                  float momentum) {
  for (size_t k = 0; k < n; ++k) {
    velocity[k] = momentum * velocity[k] + g[k];
    w[k] = (1.0f - rate * decay) * w[k] - rate * velocity[k];
  }
}

void sgd_row_bf16(uint32_t* w, const float* g, size_t n, float rate, float decay, uint32_t noise) {
  for (size_t k = 0; k < n; ++k) {
    set_pair_value(w, k, (1.0f - rate * decay) * pair_value(w, k) - rate * g[k], noise);
  }
}

void widen(const uint32_t* w, size_t n, float* x) {
  for (size_t k = 0; k < n; ++k) x[k] = pair_value(w, k);
}

void widen_int8(const Int8Rows& w, size_t r, size_t n, float* x) {
  for (size_t k = 0; k < n; ++k) x[k] = int8_factor(w.exponents[r]) * static_cast<float>(w.row(r)[k]);
}

void pair_int8(const Int8Rows& w, size_t r, size_t n, uint32_t* pairs) {
  for (size_t k = 0; k < (n + kPairGroup - 1) / kPairGroup * kPairGroup; ++k)
    set_nearest_pair_value(pairs, k, int8_factor(w.exponents[r]) * static_cast<float>(w.row(r)[k]));
}

void gather_rows_int8(const Int8Rows& w, const uint32_t* ids, const float* values, size_t count, size_t n,
                      float* h) {
  for (size_t i = 0; i < count; ++i) {
    const float value = values[i] * int8_factor(w.exponents[ids[i]]);
    for (size_t k = 0; k < n; ++k) h[k] += value * static_cast<float>(w.row(ids[i])[k]);
  }
}

void add_dots_int8(const Int8Rows& w, const uint32_t* ids, size_t rows, const float* x, size_t n, float* z) {
  for (size_t a = 0; a < rows; ++a) {
    float sum = 0.0f;
    for (size_t k = 0; k < n; ++k) sum += static_cast<float>(w.row(ids[a])[k]) * x[k];
    z[a] += int8_factor(w.exponents[ids[a]]) * sum;
  }
}

// Quantizes a row with the least power-of-two factor for which all values fit into [-127, 127].
int narrow_int8(const float* x, size_t n, std::int8_t* q) {
  constexpr int kMinExponent = -126, kMaxExponent = 120;
  constexpr float kMaxByte = 127.0f;
  float largest = 0.0f;
  for (size_t k = 0; k < n; ++k) largest = std::max(largest, std::fabs(x[k]));
  int exponent = kMinExponent;
  if (largest > 0.0f) std::frexp(largest, &exponent);               // largest < 2^exponent,
  exponent = std::clamp(exponent - 7, kMinExponent, kMaxExponent);  // so that it is below 2^7 units
  if (largest > kMaxByte * int8_factor(exponent)) exponent = std::min(exponent + 1, kMaxExponent);
  const float factor = int8_factor(-exponent);
  const size_t padded = (n + kPairGroup - 1) / kPairGroup * kPairGroup;
  for (size_t k = 0; k < padded; ++k) {
    const float unit = k < n ? std::nearbyint(x[k] * factor) : 0.0f;
    q[k] = static_cast<std::int8_t>(std::clamp(unit, -kMaxByte, kMaxByte));
  }
  return exponent;
}

void narrow(const float* x, size_t n, uint32_t noise, uint32_t* w) {
  for (size_t k = 0; k < n; ++k) set_pair_value(w, k, x[k], noise);
}

void narrow_nearest(const float* x, size_t n, uint32_t* w) {
  for (size_t k = 0; k < n; ++k) set_nearest_pair_value(w, k, x[k]);
}

size_t scatter_rows(const uint32_t* ids, const float* values, size_t count, uint32_t bound, const float* x,
                    size_t n, float* h, size_t ldh) {
  size_t i = 0;
  for (; i < count && ids[i] < bound; ++i) {
    for (size_t k = 0; k < n; ++k) h[ids[i] * ldh + k] += values[i] * x[k];
  }
  return i;
}

// Intersects a neuron's pattern (ids, w) with the block's features, a bit set. A feature's column in the
// block is its rank: the number of set bits before it.
size_t find_present(const uint32_t* ids, const float* w, size_t count, const uint32_t* bits,
                    const uint32_t* first, uint16_t* masks, uint32_t* columns, float* values) {
  size_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i % 16 == 0) masks[i / 16] = 0;
    const uint32_t word = bits[ids[i] / 32], bit = 1u << (ids[i] % 32);
    if ((word & bit) == 0) continue;
    masks[i / 16] = static_cast<uint16_t>(masks[i / 16] | 1u << (i % 16));
    columns[found] = first[ids[i] / 32] + static_cast<uint32_t>(std::popcount(word & (bit - 1)));
    values[found++] = w[i];
  }
  return found;
}

// Distributes entries to kKinds lists by the kind of their columns; `masks` records the kind of each entry.
void part_kinds(const uint32_t* columns, const float* w, size_t count, const uint32_t* places,
                uint16_t* masks, Parts& parts) {
  for (size_t& n : parts.count) n = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i % 16 == 0) std::fill_n(masks + i / 16 * kKinds, kKinds, uint16_t{0});
    const size_t kind = places[columns[i]] % kKinds, n = parts.count[kind]++;
    uint16_t& mask = masks[i / 16 * kKinds + kind];
    mask = static_cast<uint16_t>(mask | 1u << (i % 16));
    parts.places[kind][n] = places[columns[i]] / kKinds;
    parts.weights[kind][n] = w[i];
  }
}

// Restores the order before part_kinds(): entry i takes the next value of the list of its kind.
void join_kinds(const uint16_t* masks, size_t count, const float* const* parts, float* g) {
  size_t taken[kKinds] = {};
  for (size_t i = 0; i < count; ++i) {
    for (size_t kind = 0; kind < kKinds; ++kind) {
      if ((masks[i / 16 * kKinds + kind] >> (i % 16) & 1u) != 0) g[i] = parts[kind][taken[kind]++];
    }
  }
}

// Adagrad on the masked weights only; the n-th masked weight has the gradient g[n].
void adagrad_masked(float* w, float* accumulators, const uint16_t* masks, size_t count, const float* g,
                    float scale, float rate) {
  for (size_t i = 0; i < count; ++i) {
    if ((masks[i / 16] >> (i % 16) & 1u) == 0) continue;
    const float h = scale * *g++;
    accumulators[i] += h * h;
    w[i] -= rate * h / std::sqrt(1.0f + accumulators[i]);
  }
}

void adagrad_row(float* w, float* accumulator, const float* g, size_t n, float rate, float decay,
                 float epsilon) {
  *accumulator += dot(g, g, n) / static_cast<float>(n);
  const float step = rate / (std::sqrt(*accumulator) + epsilon);
  for (size_t k = 0; k < n; ++k) w[k] = (1.0f - rate * decay) * w[k] - step * g[k];
}

// Adam with decoupled weight decay (AdamW). The caller has put the bias corrections into `rate`.
void adam_row(float* w, float* m, float* v, const float* g, size_t n, float rate, float decay, float beta1,
              float beta2, float epsilon) {
  for (size_t k = 0; k < n; ++k) {
    m[k] = beta1 * m[k] + (1.0f - beta1) * g[k];
    v[k] = beta2 * v[k] + (1.0f - beta2) * g[k] * g[k];
    w[k] = (1.0f - rate * decay) * w[k] - rate * m[k] / (std::sqrt(v[k]) + epsilon);
  }
}

}  // namespace

extern const KernelSet kScalarKernels;
constinit const KernelSet kScalarKernels = {.name = "scalar",
                                            .fast_bf16 = false,
                                            .fast_int8 = false,
                                            .rows_forward = rows_forward,
                                            .rows_forward_bf16 = rows_forward_bf16,
                                            .rows_forward_int8 = rows_forward_int8,
                                            .rows_backward_input = rows_backward_input,
                                            .rows_gradient = rows_gradient,
                                            .gather_rows = gather_rows,
                                            .scatter_rows = scatter_rows,
                                            .gather_rows_bf16 = gather_rows_bf16,
                                            .dot = dot,
                                            .gather_dot = gather_dot,
                                            .sum = sum,
                                            .axpy = axpy,
                                            .transpose = transpose,
                                            .select_above = select_above,
                                            .behind_best = behind_best,
                                            .pack_signs = pack_signs,
                                            .sparsify = sparsify,
                                            .find_present = find_present,
                                            .part_kinds = part_kinds,
                                            .join_kinds = join_kinds,
                                            .softmax_lanes = softmax_lanes,
                                            .logistic_loss = logistic_loss,
                                            .exp = exp_doubles,
                                            .relu = relu,
                                            .sigmoid = sigmoid,
                                            .tanh = tanh,
                                            .relu_backward = relu_backward,
                                            .sigmoid_backward = sigmoid_backward,
                                            .tanh_backward = tanh_backward,
                                            .sgd_row = sgd_row,
                                            .momentum_row = momentum_row,
                                            .adagrad_row = adagrad_row,
                                            .sgd_row_bf16 = sgd_row_bf16,
                                            .widen = widen,
                                            .widen_int8 = widen_int8,
                                            .pair_int8 = pair_int8,
                                            .gather_rows_int8 = gather_rows_int8,
                                            .add_dots_int8 = add_dots_int8,
                                            .narrow_int8 = narrow_int8,
                                            .narrow = narrow,
                                            .narrow_nearest = narrow_nearest,
                                            .adagrad_masked = adagrad_masked,
                                            .adam_row = adam_row};

}  // namespace slide::kernels
