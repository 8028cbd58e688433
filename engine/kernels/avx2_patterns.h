// AVX2 specialisations of the kernels of the linear term, which simd_patterns.h specifies. 8 entries a
// register; AVX2 compresses and expands by permutations from a table of the 256 masks. Words at random places
// are read one by one: gathers are slower on AMD's processors, and on Intel's since their microcode was
// mended (Gather Data Sampling, 2023). Included only by kernels_avx2.cpp.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <array>

#include "engine/kernels/simd.h"
#include "engine/kernels/simd_patterns.h"

namespace slide::kernels {
namespace {

using Avx2Fma = xsimd::fma3<xsimd::avx2>;

constexpr size_t kOctet = 8;  // entries of a register

// A number from 0 to 7 for each entry, in bytes.
using OctetTable = std::array<std::uint64_t, 256>;

// kSetBits[m]: byte j is the position of the j-th set bit of mask m. Permutation that compresses.
constexpr OctetTable kSetBits = [] {
  OctetTable table{};
  for (size_t m = 0; m < table.size(); ++m) {
    for (size_t bit = 0, j = 0; bit < kOctet; ++bit) {
      if ((m >> bit & 1) != 0) table[m] |= std::uint64_t{bit} << (8 * j++);
    }
  }
  return table;
}();

// kBitsBelow[m]: byte j is the number of set bits of mask m below bit j. Permutation that expands.
constexpr OctetTable kBitsBelow = [] {
  OctetTable table{};
  for (size_t m = 0; m < table.size(); ++m) {
    for (size_t bit = 0, below = 0; bit < kOctet; ++bit) {
      table[m] |= std::uint64_t{below} << (8 * bit);
      below += m >> bit & 1;
    }
  }
  return table;
}();

inline __m256i octet_of(const OctetTable& table, uint32_t mask) {
  return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(table[mask])));
}

inline size_t ones_of(uint32_t mask) {
  return static_cast<size_t>(__builtin_popcount(mask));
}

// All bits of entry j set where bit j of the mask is.
inline __m256 lanes_of(uint32_t mask) {
  const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
  return _mm256_castsi256_ps(
      _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(mask)), bits), bits));
}

// Reads as many floats as the mask has set bits, in their places; 0 elsewhere.
inline __m256 expand_load(const float* from, uint32_t mask) {
  const __m256i first = _mm256_castps_si256(lanes_of((1u << ones_of(mask)) - 1));
  return _mm256_and_ps(lanes_of(mask),
                       _mm256_permutevar8x32_ps(_mm256_maskload_ps(from, first), octet_of(kBitsBelow, mask)));
}

// Writes the entries of the mask one after another, and up to a register in all.
inline void compress_store(uint32_t* to, __m256i entries, __m256i order) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm256_permutevar8x32_epi32(entries, order));
}
inline void compress_store(float* to, __m256 entries, __m256i order) {
  _mm256_storeu_ps(to, _mm256_permutevar8x32_ps(entries, order));
}

// The eight bits of entries [i, i + 8).
inline uint32_t octet_mask(const uint16_t* masks, size_t i, size_t step = 1, size_t at = 0) {
  return masks[i / 16 * step + at] >> (i % 16) & 0xffu;
}
inline void set_octet_mask(uint16_t* masks, size_t i, uint32_t mask, size_t step = 1, size_t at = 0) {
  uint16_t& both = masks[i / 16 * step + at];
  both = static_cast<uint16_t>(i % 16 == 0 ? mask : both | mask << 8);
}

// Eight entries at a time: `mask` has bit j set where entry i + j is present. Writes the present ids first,
// and turns them into columns (rank in `bits`) in a second loop.
template <>
size_t find_present<Avx2Fma>(const uint32_t* ids, const float* w, size_t count, const uint32_t* bits,
                             const uint32_t* first, uint16_t* masks, uint32_t* columns, float* values) {
  size_t found = 0;
  for (size_t i = 0; i < count; i += kOctet) {
    uint32_t mask = 0;
    const size_t here = smaller(kOctet, count - i);
    if (here == kOctet) {
      SLIDE_UNROLL
      for (size_t j = 0; j < kOctet; ++j) mask |= (bits[ids[i + j] / 32] >> (ids[i + j] % 32) & 1u) << j;
      const __m256i order = octet_of(kSetBits, mask);
      compress_store(columns + found, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ids + i)), order);
      compress_store(values + found, _mm256_loadu_ps(w + i), order);
      found += ones_of(mask);
    } else {
      for (size_t j = 0; j < here; ++j) {
        const uint32_t present = bits[ids[i + j] / 32] >> (ids[i + j] % 32) & 1u;
        mask |= present << j;
        columns[found] = ids[i + j];
        values[found] = w[i + j];
        found += present;
      }
    }
    set_octet_mask(masks, i, mask);
  }
  for (size_t f = 0; f < found; ++f) {
    const uint32_t at = columns[f] / 32, below = bits[at] & ((1u << columns[f] % 32) - 1);
    columns[f] = first[at] + static_cast<uint32_t>(__builtin_popcount(below));
  }
  return found;
}

// Eight entries at a time: the two low bits of a place are its kind, the other bits its position. Appends
// the entries of each kind to that kind's list.
template <>
void part_kinds<Avx2Fma>(const uint32_t* columns, const float* w, size_t count, const uint32_t* places,
                         uint16_t* masks, Parts& parts) {
  static_assert(kKinds == 4);
  size_t counts[kKinds] = {};
  alignas(32) uint32_t last_columns[kOctet] = {};
  alignas(32) float last_weights[kOctet] = {};
  for (size_t i = 0; i < count; i += kOctet) {
    const size_t here = smaller(kOctet, count - i);
    const uint32_t* column = columns + i;
    const float* weights = w + i;
    if (here < kOctet) {
      std::copy_n(column, here, last_columns);
      std::copy_n(weights, here, last_weights);
      for (size_t j = here; j < kOctet; ++j) last_columns[j] = column[0];
      column = last_columns, weights = last_weights;
    }
    const auto at = [&](size_t j) { return static_cast<int>(places[column[j]]); };
    const __m256i place = _mm256_setr_epi32(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7));
    const __m256i position = _mm256_srli_epi32(place, 2);
    const __m256 weight = _mm256_loadu_ps(weights);
    const auto bit_of = [&](int bit) {
      return static_cast<uint32_t>(
          _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_slli_epi32(place, 31 - bit))));
    };
    const uint32_t low = bit_of(0), high = bit_of(1), valid = (1u << here) - 1;
    const uint32_t kinds[kKinds] = {valid & ~(low | high), valid & low & ~high, valid & high & ~low,
                                    valid & low & high};
    SLIDE_UNROLL
    for (size_t k = 0; k < kKinds; ++k) {
      const __m256i order = octet_of(kSetBits, kinds[k]);
      compress_store(parts.places[k] + counts[k], position, order);
      compress_store(parts.weights[k] + counts[k], weight, order);
      counts[k] += ones_of(kinds[k]);
      set_octet_mask(masks, i, kinds[k], kKinds, k);
    }
  }
  for (size_t k = 0; k < kKinds; ++k) parts.count[k] = counts[k];
}

// Eight entries at a time: expands the next values of each kind to the entries of that kind; `joined` is
// their union.
template <>
void join_kinds<Avx2Fma>(const uint16_t* masks, size_t count, const float* const* parts, float* g) {
  const float* at[kKinds];
  for (size_t k = 0; k < kKinds; ++k) at[k] = parts[k];
  for (size_t i = 0; i < count; i += kOctet) {
    __m256 joined = _mm256_setzero_ps();
    SLIDE_UNROLL
    for (size_t k = 0; k < kKinds; ++k) {
      const uint32_t mask = octet_mask(masks, i, kKinds, k);
      joined = _mm256_or_ps(joined, expand_load(at[k], mask));
      at[k] += ones_of(mask);
    }
    if (count - i >= kOctet) {
      _mm256_storeu_ps(g + i, joined);
    } else {
      alignas(32) float last[kOctet];
      _mm256_store_ps(last, joined);
      std::copy_n(last, count - i, g + i);
    }
  }
}

// Eight weights at a time; the last, incomplete register goes through copies.
template <>
void adagrad_masked<Avx2Fma>(float* w, float* accumulators, const uint16_t* masks, size_t count,
                             const float* g, float scale, float rate) {
  // Entries outside the mask have a gradient of 0, which changes neither weight nor accumulator.
  const auto update = [&](float* weights, float* sums, uint32_t mask) {
    const __m256 h = _mm256_mul_ps(_mm256_set1_ps(scale), expand_load(g, mask));
    g += ones_of(mask);
    // With listed gradients most are 0; skip loading their accumulators.
    if (_mm256_testz_si256(_mm256_castps_si256(h), _mm256_castps_si256(h)) != 0) return;
    const __m256 sum = _mm256_fmadd_ps(h, h, _mm256_loadu_ps(sums));
    const __m256 root = _mm256_sqrt_ps(_mm256_add_ps(_mm256_set1_ps(1.0f), sum));
    const __m256 step = _mm256_div_ps(_mm256_mul_ps(_mm256_set1_ps(rate), h), root);
    _mm256_storeu_ps(sums, sum);
    _mm256_storeu_ps(weights, _mm256_sub_ps(_mm256_loadu_ps(weights), step));
  };
  size_t i = 0;
  for (; i + kOctet <= count; i += kOctet) {
    const uint32_t mask = octet_mask(masks, i);
    if (mask != 0) update(w + i, accumulators + i, mask);
  }
  if (i == count) return;
  float last_weights[kOctet] = {}, last_sums[kOctet] = {};
  std::copy_n(w + i, count - i, last_weights);
  std::copy_n(accumulators + i, count - i, last_sums);
  update(last_weights, last_sums, octet_mask(masks, i));
  std::copy_n(last_weights, count - i, w + i);
  std::copy_n(last_sums, count - i, accumulators + i);
}

}  // namespace
}  // namespace slide::kernels
