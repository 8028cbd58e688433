// rows_forward_bf16 with AVX512-BF16 dot products. dispatch.cpp combines it with the avx512 kernels.
#include <type_traits>

#include "engine/kernels/avx512_panel.h"

namespace slide::kernels {

extern const KernelSet kAvx512Kernels;

// Also declared in dispatch.cpp.
std::remove_pointer_t<decltype(KernelSet::rows_forward_bf16)> rows_forward_bf16_dots;

namespace {

// Policy of forward() (avx512_panel.h): multiplies rows with a panel of samples by dot products of pairs.
struct DotRows {
  static constexpr size_t kVectors = 2;

  template <size_t C>
  static void add(const Bf16Product& p, size_t words, bool first, const uint32_t* panel) {
    size_t a = 0;
    for (; a + 12 <= p.rows; a += 12) tile<12, C>(p, a, words, first, panel);
    for (; a + 4 <= p.rows; a += 4) tile<4, C>(p, a, words, first, panel);
    for (; a < p.rows; ++a) tile<1, C>(p, a, words, first, panel);
  }

 private:
  // Adds the products of U words, from `word` on, of R rows and C vectors of samples to acc [R x C].
  template <size_t R, size_t C, size_t U>
  [[gnu::always_inline]] static inline void multiply(const uint32_t* const (&row)[R], size_t word,
                                                     const uint32_t* panel, __m512 (&acc)[R][C]) {
    __m512bh x[U][C];
    SLIDE_UNROLL
    for (size_t u = 0; u < U; ++u) {
      SLIDE_UNROLL
      for (size_t c = 0; c < C; ++c) {
        const __m512i pairs = _mm512_load_si512(panel + ((word + u) * C + c) * kVector);
        x[u][c] = reinterpret_cast<__m512bh>(pairs);
      }
    }
    SLIDE_UNROLL
    for (size_t r = 0; r < R; ++r) {
      SLIDE_UNROLL
      for (size_t u = 0; u < U; ++u) {
        const auto weights =
            reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(row[r][word + u])));
        SLIDE_UNROLL
        for (size_t c = 0; c < C; ++c) acc[r][c] = _mm512_dpbf16_ps(acc[r][c], weights, x[u][c]);
      }
    }
  }

  // Sums of R rows from row a on with C vectors of samples, in registers; prefetches the next R rows.
  template <size_t R, size_t C>
  static void tile(const Bf16Product& p, size_t a, size_t words, bool first, const uint32_t* panel) {
    constexpr size_t U = 4 / C;  // words per load of the pointers
    const uint32_t *row[R], *next[R];
    __m512 acc[R][C];
    SLIDE_UNROLL
    for (size_t r = 0; r < R; ++r) {
      row[r] = p.w + p.ids[a + r] * p.ldw;
      next[r] = p.w + p.ids[a + r + R < p.rows ? a + r + R : a + r] * p.ldw;
      SLIDE_UNROLL
      for (size_t c = 0; c < C; ++c) acc[r][c] = start_of(p, a + r, c, first);
    }
    for (size_t word = 0; word < words; word += U) {
      if (word % kGroupWords == 0) {
        SLIDE_UNROLL
        for (size_t r = 0; r < R; ++r) _mm_prefetch(next[r] + word, _MM_HINT_T0);
      }
      multiply<R, C, U>(row, word, panel, acc);
    }
    SLIDE_UNROLL
    for (size_t r = 0; r < R; ++r) {
      SLIDE_UNROLL
      for (size_t c = 0; c < C; ++c) _mm512_store_ps(p.z + (a + r) * p.lanes + c * kVector, acc[r][c]);
    }
  }
};

}  // namespace

void rows_forward_bf16_dots(const uint32_t* w, size_t ldw, const uint32_t* ids, size_t rows,
                            const float* shift, const float* xt, size_t inner, size_t lanes, float* z) {
  if (lanes == 1) {
    kAvx512Kernels.rows_forward_bf16(w, ldw, ids, rows, shift, xt, inner, lanes, z);
  } else {
    forward<DotRows>({w, ldw, ids, rows, shift, lanes, z}, xt, inner);
  }
}

}  // namespace slide::kernels
