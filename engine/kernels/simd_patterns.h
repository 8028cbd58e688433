// Kernels of the linear term: match feature patterns with a block. Element by element, which is as fast on
// processors without masked, compressing and expanding instructions.
#pragma once

#include "engine/kernels/simd.h"

namespace slide::kernels {
namespace {

// Selects the entries whose bit is set in `bits`; a column is the rank of its bit. Branch-free: writes every
// entry, and moves on only behind a present one.
template <class Arch>
size_t find_present(const uint32_t* ids, const float* w, size_t count, const uint32_t* bits,
                    const uint32_t* first, uint16_t* masks, uint32_t* columns, float* values) {
  size_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i % 16 == 0) masks[i / 16] = 0;
    const uint32_t word = bits[ids[i] / 32], bit = ids[i] % 32, present = word >> bit & 1u;
    masks[i / 16] = static_cast<uint16_t>(masks[i / 16] | present << (i % 16));
    columns[found] = first[ids[i] / 32] + static_cast<uint32_t>(__builtin_popcount(word & ((1u << bit) - 1)));
    values[found] = w[i];
    found += present;
  }
  return found;
}

// Distributes entries to kKinds lists by the kind of their columns: a place is position * kKinds + kind.
template <class Arch>
void part_kinds(const uint32_t* columns, const float* w, size_t count, const uint32_t* places,
                uint16_t* masks, Parts& parts) {
  size_t counts[kKinds] = {};
  for (size_t i = 0; i < count; ++i) {
    if (i % 16 == 0) {
      for (size_t kind = 0; kind < kKinds; ++kind) masks[i / 16 * kKinds + kind] = 0;
    }
    const uint32_t place = places[columns[i]], kind = place % kKinds;
    uint16_t& mask = masks[i / 16 * kKinds + kind];
    mask = static_cast<uint16_t>(mask | 1u << (i % 16));
    parts.places[kind][counts[kind]] = place / kKinds;
    parts.weights[kind][counts[kind]++] = w[i];
  }
  for (size_t k = 0; k < kKinds; ++k) parts.count[k] = counts[k];
}

// Restores the order before part_kinds(): entry i takes the next value of the list of its kind.
template <class Arch>
void join_kinds(const uint16_t* masks, size_t count, const float* const* parts, float* g) {
  const float* at[kKinds];
  for (size_t k = 0; k < kKinds; ++k) at[k] = parts[k];
  for (size_t i = 0; i < count; ++i) {
    size_t kind = 0;
    while ((masks[i / 16 * kKinds + kind] >> (i % 16) & 1u) == 0) ++kind;
    g[i] = *at[kind]++;
  }
}

// Adagrad on the masked weights; the n-th masked weight has the gradient g[n].
template <class Arch>
void adagrad_masked(float* w, float* accumulators, const uint16_t* masks, size_t count, const float* g,
                    float scale, float rate) {
  for (size_t i = 0; i < count; ++i) {
    if ((masks[i / 16] >> (i % 16) & 1u) == 0) continue;
    const float h = scale * *g++;
    accumulators[i] += h * h;
    w[i] -= rate * h / __builtin_sqrtf(1.0f + accumulators[i]);
  }
}

}  // namespace
}  // namespace slide::kernels
