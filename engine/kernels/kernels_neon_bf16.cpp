// rows_forward_bf16 with dot products of two bfloat16 values each (bf16: ARMv8.6, Neoverse V1 and N2, Apple
// M2 and later). dispatch.cpp combines it with the neon kernels.
//
// Samples are rounded and packed once, as with AVX512-BF16 (avx512_panel.h): word j of a group of 32 columns
// holds columns j and 16 + j, as in weight rows. Then a panel is multiplied with all rows.
#include <arm_neon.h>

#include <type_traits>

#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/products.h"
#include "engine/kernels/unroll.h"

namespace slide::kernels {

extern const KernelSet kNeonKernels;

// Also declared in dispatch.cpp.
std::remove_pointer_t<decltype(KernelSet::rows_forward_bf16)> rows_forward_bf16_dots;

namespace {

constexpr size_t kVector = 4;       // samples, or words of a row, in a register
constexpr size_t kTileVectors = 2;  // registers of samples in a tile
constexpr size_t kGroupWords = kPairGroup / 2;
constexpr size_t kPanelWords = 64;  // words per sample in a panel, and per row at a time
constexpr size_t kPanelLanes = 64;  // samples in a panel

// Word j of sample b is words[j * lanes + b], j < count, a multiple of kGroupWords.
struct Panel {
  const uint32_t* words;
  size_t count, lanes;
  bool first;  // z is not initialised yet
};

// Packs the columns of `count` words, from column `first` on, of `lanes` samples into words [count x lanes],
// rounded to bfloat16; columns from `inner` on are 0.
void pack_panel(const float* xt, size_t inner, size_t ldx, size_t first, size_t count, size_t lanes,
                uint32_t* words) {
  const auto rounded = [&](size_t k, size_t b) {
    if (k >= inner) return vdup_n_u16(0);
    return vreinterpret_u16_bf16(vcvt_bf16_f32(vld1q_f32(xt + k * ldx + b)));
  };
  for (size_t word = 0; word < count; ++word) {
    const size_t k = first + word / kGroupWords * kPairGroup + word % kGroupWords;
    for (size_t b = 0; b < lanes; b += kVector) {
      const uint16x4_t low = rounded(k, b), high = rounded(k + kGroupWords, b);
      const uint16x8_t pairs = vcombine_u16(vzip1_u16(low, high), vzip2_u16(low, high));
      vst1q_u32(words + word * lanes + b, vreinterpretq_u32_u16(pairs));
    }
  }
}

inline bfloat16x8_t load_pairs(const uint32_t* words) {
  return vreinterpretq_bf16_u32(vld1q_u32(words));
}

// Adds the products of word L of `weights` and the words from `words` on.
template <int L, size_t R>
[[gnu::always_inline]] inline void add_word(const bfloat16x8_t (&weights)[R], const uint32_t* words,
                                            float32x4_t (&acc)[R][kTileVectors]) {
  SLIDE_UNROLL
  for (size_t c = 0; c < kTileVectors; ++c) {
    const bfloat16x8_t x = load_pairs(words + c * kVector);
    SLIDE_UNROLL
    for (size_t r = 0; r < R; ++r) acc[r][c] = vbfdotq_laneq_f32(acc[r][c], x, weights[r], L);
  }
}

// z tile of R rows from row a on x kTileVectors registers of samples from sample b of the panel on.
template <size_t R>
void tile(const Bf16Product& p, const Panel& panel, const uint32_t* const (&row)[R], size_t a, size_t b) {
  float32x4_t acc[R][kTileVectors];
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) {
    const float shift = p.shift == nullptr ? 0.0f : p.shift[a + r];
    SLIDE_UNROLL
    for (size_t c = 0; c < kTileVectors; ++c) {
      acc[r][c] = panel.first ? vdupq_n_f32(shift) : vld1q_f32(p.z + (a + r) * p.lanes + b + c * kVector);
    }
  }
  for (size_t word = 0; word < panel.count; word += kVector) {
    bfloat16x8_t weights[R];
    SLIDE_UNROLL
    for (size_t r = 0; r < R; ++r) weights[r] = load_pairs(row[r] + word);
    const uint32_t* words = panel.words + word * panel.lanes + b;
    add_word<0>(weights, words, acc);
    add_word<1>(weights, words + panel.lanes, acc);
    add_word<2>(weights, words + 2 * panel.lanes, acc);
    add_word<3>(weights, words + 3 * panel.lanes, acc);
  }
  SLIDE_UNROLL
  for (size_t r = 0; r < R; ++r) {
    SLIDE_UNROLL
    for (size_t c = 0; c < kTileVectors; ++c) vst1q_f32(p.z + (a + r) * p.lanes + b + c * kVector, acc[r][c]);
  }
}

// R rows from row a on with all samples of a panel: rows are read once, samples stay in the cache.
template <size_t R>
void tiles(const Bf16Product& p, const Panel& panel, size_t a) {
  const uint32_t* row[R];
  for (size_t r = 0; r < R; ++r) {
    row[r] = p.w + p.ids[a + r] * p.ldw;
    const uint32_t* next = p.w + p.ids[a + r + R < p.rows ? a + r + R : a + r] * p.ldw;
    for (size_t word = 0; word < panel.count; word += kGroupWords) __builtin_prefetch(next + word);
  }
  for (size_t b = 0; b < panel.lanes; b += kTileVectors * kVector) tile<R>(p, panel, row, a, b);
}

void multiply_rows(const Bf16Product& p, const Panel& panel) {
  size_t a = 0;
  for (; a + 8 <= p.rows; a += 8) tiles<8>(p, panel, a);
  for (; a + 4 <= p.rows; a += 4) tiles<4>(p, panel, a);
  for (; a < p.rows; ++a) tiles<1>(p, panel, a);
}

}  // namespace

// Panels of 2 * kPanelWords columns x kPanelLanes samples; `first` panels start from the biases.
void rows_forward_bf16_dots(const uint32_t* w, size_t ldw, const uint32_t* ids, size_t rows,
                            const float* shift, const float* xt, size_t inner, size_t lanes, float* z) {
  if (lanes == 1) return kNeonKernels.rows_forward_bf16(w, ldw, ids, rows, shift, xt, inner, lanes, z);
  alignas(64) uint32_t words[kPanelWords * kPanelLanes];
  for (size_t k = 0; k < inner || k == 0; k += 2 * kPanelWords, w += kPanelWords) {
    const size_t columns = inner - k < 2 * kPanelWords ? inner - k : 2 * kPanelWords;
    const size_t count = (columns + kPairGroup - 1) / kPairGroup * kGroupWords;
    for (size_t b = 0; b < lanes; b += kPanelLanes) {
      const size_t width = lanes - b < kPanelLanes ? lanes - b : kPanelLanes;
      pack_panel(xt + b, inner, lanes, k, count, width, words);
      multiply_rows({w, ldw, ids, rows, shift, lanes, z + b}, {words, count, width, k == 0});
    }
  }
}

}  // namespace slide::kernels
