// Packed panels of samples in bfloat16 for instructions that multiply pairs: word j of a group of 32 columns
// holds columns j and 16 + j, as in weight rows (bf16.h). A panel (a packed operand, as in GotoBLAS) is
// rounded and packed once, then multiplied with all rows.
//
// Included only by kernels_avx512_bf16.cpp and kernels_amx.cpp; the rule of simd.h on shared inline functions
// applies.
#pragma once

#include <immintrin.h>

#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/products.h"
#include "engine/kernels/unroll.h"

namespace slide::kernels {
namespace {

constexpr size_t kGroupWords = kPairGroup / 2;
constexpr size_t kPanelWords = 128;  // words per sample in a panel, and per row at a time
constexpr size_t kVector = 16;

// Packs columns [first, first + 2 * words) of C vectors of samples, rounded to bfloat16, into panel [words x
// C * kVector]; columns from `inner` on are 0.
template <size_t C>
void pack_panel(const float* xt, size_t inner, size_t lanes, size_t first, size_t words, uint32_t* panel) {
  const auto bits_at = [&](size_t k, size_t c) {  // 16 values, in the lower halves
    if (k >= inner) return _mm512_setzero_si512();
    const __m512 x = _mm512_load_ps(xt + k * lanes + c * kVector);
    return _mm512_cvtepu16_epi32(reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(x)));
  };
  for (size_t word = 0; word < words; ++word) {
    const size_t k = first + word / kGroupWords * kPairGroup + word % kGroupWords;
    for (size_t c = 0; c < C; ++c) {
      const __m512i low = bits_at(k, c), high = bits_at(k + kGroupWords, c);
      _mm512_store_si512(panel + (word * C + c) * kVector, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
    }
  }
}

// Multiplies C vectors of samples: calls Rows::add(product, words, first, panel) for successive panels of
// columns; `first`: z is not initialised yet.
template <class Rows, size_t C>
void forward_vectors(Bf16Product product, const float* xt, size_t inner) {
  alignas(64) uint32_t panel[kPanelWords * C * kVector];
  for (size_t k = 0; k < inner || k == 0; k += 2 * kPanelWords) {
    const size_t columns = inner - k < 2 * kPanelWords ? inner - k : 2 * kPanelWords;
    const size_t words = (columns + kPairGroup - 1) / kPairGroup * kGroupWords;
    pack_panel<C>(xt, inner, product.lanes, k, words, panel);
    Rows::template add<C>(product, words, k == 0, panel);
    product.w += kPanelWords;
  }
}

// Multiplies the samples from lane b on: panels of C vectors, the rest in panels of C / 2, and so on.
template <class Rows, size_t C = Rows::kVectors>
void forward(const Bf16Product& product, const float* xt, size_t inner, size_t b = 0) {
  for (; b + C * kVector <= product.lanes; b += C * kVector) {
    Bf16Product part = product;
    part.z += b;
    forward_vectors<Rows, C>(part, xt + b, inner);
  }
  if constexpr (C > 1) forward<Rows, C / 2>(product, xt, inner, b);
}

// Initial sums of row a for sample vector c: the bias in the first panel, the sums so far in later ones.
inline __m512 start_of(const Bf16Product& p, size_t a, size_t c, bool first) {
  if (!first) return _mm512_load_ps(p.z + a * p.lanes + c * kVector);
  return _mm512_set1_ps(p.shift == nullptr ? 0.0f : p.shift[a]);
}

}  // namespace
}  // namespace slide::kernels
