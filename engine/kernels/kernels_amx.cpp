// rows_forward_bf16 with AMX tiles. dispatch.cpp combines it with the avx512 kernels.
#include <type_traits>

#include "engine/kernels/avx512_panel.h"

namespace slide::kernels {

extern const KernelSet kAvx512Kernels;

// Also declared in dispatch.cpp.
std::remove_pointer_t<decltype(KernelSet::rows_forward_bf16)> rows_forward_bf16_tiles;

namespace {

constexpr size_t kTile = 16;  // rows of a tile, of 64 bytes each

// Operand of ldtilecfg: all eight tiles have 16 rows of 64 bytes.
struct alignas(64) TileConfig {
  unsigned char palette = 1, start_row = 0, reserved[14] = {};
  unsigned short bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  unsigned char rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
static_assert(sizeof(TileConfig) == 64);
constexpr TileConfig kTileConfig;

// Policy of forward() (avx512_panel.h): multiplies rows with a panel of samples.
struct TileRows {
  static constexpr size_t kVectors = 4;

  // Adds the products of all rows with a panel [words x C * kVector], 32 rows (two tiles) a pass. Tile loads
  // of recently written memory are slow, so the rows of a pass are prepared one pass ahead.
  template <size_t C>
  static void add(const Bf16Product& p, size_t words, bool first, const uint32_t* panel) {
    alignas(64) uint32_t copies[2][kPassRows * kPanelWords];
    alignas(64) float spare[kPassRows * C * kVector];
    Pass pass = prepare<C>(p, 0, words, first, copies[0], spare);
    for (size_t a = 0, other = 1; pass.count > 0; other ^= 1) {
      const size_t b = a + pass.count;
      const Pass next = prepare<C>(p, b, words, first, copies[other], spare);
      for (size_t c = 0; c < C; c += 2) {
        constexpr size_t kTogether = C > 1 ? 2 : 1;
        if (pass.count > kTile) {
          multiply<2, kTogether>(pass, words, panel, C * kVector, c * kVector);
        } else {
          multiply<1, kTogether>(pass, words, panel, C * kVector, c * kVector);
        }
      }
      if (pass.z == spare) copy_sums<C>(pass, p.z + a * p.lanes, p.lanes);
      pass = next;
      a = b;
    }
  }

 private:
  static constexpr size_t kPassRows = 2 * kTile;

  // Up to two tiles of consecutive rows, and the destination of their sums.
  struct Pass {
    size_t count;
    const uint32_t* rows;
    size_t ldr;
    float* z;
    size_t ldz;
  };

  // Prepares the pass of the rows from row a on: its rows in place if they are consecutive, else copied; and
  // its initial sums. An incomplete tile sums in `spare`, which has room for the rows beyond the last one.
  template <size_t C>
  static Pass prepare(const Bf16Product& p, size_t a, size_t words, bool first, uint32_t* copy,
                      float* spare) {
    const size_t count = p.rows - a < kPassRows ? p.rows - a : kPassRows;
    if (count == 0) return {};
    Pass pass{count, copy, words, p.z + a * p.lanes, p.lanes};
    for (size_t r = a + kPassRows; r < p.rows && r < a + 2 * kPassRows; ++r) {
      const uint32_t* ahead = p.w + p.ids[r] * p.ldw;
      for (size_t word = 0; word < words; word += kVector) _mm_prefetch(ahead + word, _MM_HINT_T0);
    }
    if (count % kTile == 0 && follow_each_other(p.ids + a, count)) {
      pass.rows = p.w + p.ids[a] * p.ldw;
      pass.ldr = p.ldw;
    } else {
      for (size_t r = 0; r < count; ++r) {
        const uint32_t* row = p.w + p.ids[a + r] * p.ldw;
        for (size_t word = 0; word < words; word += kVector)
          _mm512_store_si512(copy + r * words + word, _mm512_loadu_si512(row + word));
      }
    }
    const bool partial = count % kTile != 0;
    if (partial) {
      pass.z = spare;
      pass.ldz = C * kVector;
    }
    for (size_t r = 0; r < count && (first || partial); ++r) {
      for (size_t c = 0; c < C; ++c)
        _mm512_store_ps(pass.z + r * pass.ldz + c * kVector, start_of(p, a + r, c, first));
    }
    return pass;
  }

  static bool follow_each_other(const uint32_t* ids, size_t count) {
    bool follow = true;
    for (size_t r = 1; r < count; ++r) follow &= ids[r] == ids[0] + r;
    return follow;
  }

  template <size_t C>
  static void copy_sums(const Pass& pass, float* z, size_t ldz) {
    for (size_t r = 0; r < pass.count; ++r) {
      for (size_t c = 0; c < C; ++c)
        _mm512_store_ps(z + r * ldz + c * kVector, _mm512_load_ps(pass.z + r * pass.ldz + c * kVector));
    }
  }

  // R x C tiles of sums for the samples from `lane` on, in a panel of ldp samples. Tiles 0 to 3 hold sums, 4
  // and 5 weight rows, 6 and 7 samples.
  template <size_t R, size_t C>
  static void multiply(const Pass& pass, size_t words, const uint32_t* panel, size_t ldp, size_t lane) {
    __asm__ volatile("" ::: "memory");  // tile loads read memory without the compiler's knowledge
    const uint32_t* rows = pass.rows;
    const size_t ldr = pass.ldr, ldz = pass.ldz;
    float* z = pass.z + lane;
    panel += lane;
    _tile_loadd(0, z, ldz * 4);
    if constexpr (C == 2) _tile_loadd(1, z + kVector, ldz * 4);
    if constexpr (R == 2) _tile_loadd(2, z + kTile * ldz, ldz * 4);
    if constexpr (R == 2 && C == 2) _tile_loadd(3, z + kTile * ldz + kVector, ldz * 4);
    for (size_t word = 0; word < words; word += kGroupWords) {
      _tile_loadd(4, rows + word, ldr * 4);
      _tile_loadd(6, panel + word * ldp, ldp * 4);
      _tile_dpbf16ps(0, 4, 6);
      if constexpr (C == 2) {
        _tile_loadd(7, panel + word * ldp + kVector, ldp * 4);
        _tile_dpbf16ps(1, 4, 7);
      }
      if constexpr (R == 2) {
        _tile_loadd(5, rows + kTile * ldr + word, ldr * 4);
        _tile_dpbf16ps(2, 5, 6);
      }
      if constexpr (R == 2 && C == 2) _tile_dpbf16ps(3, 5, 7);
    }
    _tile_stored(0, z, ldz * 4);
    if constexpr (C == 2) _tile_stored(1, z + kVector, ldz * 4);
    if constexpr (R == 2) _tile_stored(2, z + kTile * ldz, ldz * 4);
    if constexpr (R == 2 && C == 2) _tile_stored(3, z + kTile * ldz + kVector, ldz * 4);
  }
};

}  // namespace

void rows_forward_bf16_tiles(const uint32_t* w, size_t ldw, const uint32_t* ids, size_t rows,
                             const float* shift, const float* xt, size_t inner, size_t lanes, float* z) {
  if (lanes == 1) {
    kAvx512Kernels.rows_forward_bf16(w, ldw, ids, rows, shift, xt, inner, lanes, z);
    return;
  }
  _tile_loadconfig(&kTileConfig);
  forward<TileRows>({w, ldw, ids, rows, shift, lanes, z}, xt, inner);
  _tile_release();
}

}  // namespace slide::kernels
