#include "engine/inference/exact_pass.h"

#include <algorithm>
#include <limits>

#include "engine/kernels/kernels.h"

namespace slide {

namespace {

constexpr std::size_t kColumn = 64;  // scores of a sample per step where most are kept

// Offers the scores z [tile x lanes] of a block one sample at a time; for large k, where most are kept.
void keep_many(std::span<const std::uint32_t> tile, const BlockInput& in, const float* z, TopK* best,
               AlignedArray<float>& columns) {
  for (std::size_t a = 0; a < tile.size(); a += kColumn) {
    const auto ids = tile.subspan(a, std::min(kColumn, tile.size() - a));
    kernels::active().transpose(z + a * in.lanes, in.lanes, ids.size(), in.lanes, kColumn, columns.data());
    for (std::size_t s = 0; s < in.samples; ++s) best[s].offer(ids, columns.data() + s * kColumn);
  }
}

// Offers the scores z [tile x lanes] of block b that reach the thresholds.
void keep_best(std::size_t b, std::span<const std::uint32_t> tile, const float* z, PredictionBatch& batch,
               ExactPass::Scratch& scratch) {
  const BlockInput& in = batch.inputs[b];
  TopK* best = batch.best.data() + batch.sample(b, 0);
  const char* exact = batch.exact.data() + batch.sample(b, 0);
  if (batch.k > TopK::kMaxInOrder) return keep_many(tile, in, z, best, scratch.columns);
  for (std::size_t s = 0; s < in.lanes; ++s)
    scratch.threshold[s] =
        s < in.samples && exact[s] != 0 ? best[s].threshold() : std::numeric_limits<float>::infinity();
  const std::size_t found = kernels::active().select_above(z, tile.size(), in.lanes, scratch.threshold.data(),
                                                           scratch.places.data());
  const auto lanes = static_cast<std::uint32_t>(in.lanes);
  for (std::size_t i = 0; i < found; ++i) {
    const std::uint32_t at = scratch.places[i];
    best[at % lanes].offer(tile[at / lanes], z[at]);
  }
}

// Adds the scores z [tile x lanes] of block b to log_norm; overwrites z.
void add_norms(std::size_t b, std::size_t count, float* z, PredictionBatch& batch,
               ExactPass::Scratch& scratch) {
  const BlockInput& in = batch.inputs[b];
  kernels::active().softmax_lanes(z, in.lanes, count, in.lanes, 1.0f, scratch.tile_norm.data());
  for (std::size_t s = 0; s < in.samples; ++s) batch.add_log_norm(batch.sample(b, s), scratch.tile_norm[s]);
}

}  // namespace

ExactPass::Scratch ExactPass::make_scratch(std::size_t blocks, std::size_t lanes) const {
  return {tiles_.make_scratch(blocks, lanes), std::vector<float>(lanes),
          std::vector<std::uint32_t>(tiles_.neurons() * lanes + 1), std::vector<float>(lanes),
          AlignedArray<float>(kColumn * lanes)};
}

void ExactPass::score(std::span<const std::uint32_t> ids, const WidePostings* postings,
                      std::span<const std::uint32_t> blocks, PredictionBatch& batch, Scratch& scratch) const {
  if (blocks.empty()) return;
  tiles_.for_each_tile(
      ids, postings, blocks, batch, scratch.tiles,
      [&](std::span<const BlockInput> inputs, std::span<const std::uint32_t> tile, float* z) {
        output_.score(inputs, tile, batch.output_scratch(), z);
      },
      [&](std::size_t b, std::span<const std::uint32_t> tile, float* z) {
        keep_best(b, tile, z, batch, scratch);
        if (batch.log_softmax) add_norms(b, tile.size(), z, batch, scratch);
      });
}

}  // namespace slide
