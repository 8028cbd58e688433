#include "engine/inference/exact_pass.h"

#include <algorithm>
#include <limits>

#include "engine/kernels/kernels.h"

namespace slide {

namespace {

constexpr std::size_t kColumn = 64;  // scores of a sample per step where most are kept

// Offers the scores z [tile x lanes] of a block one sample at a time; for large k, where most are kept.
void keep_many(std::span<const std::uint32_t> chunk, const BlockInput& in, const float* z, TopK* best,
               AlignedArray<float>& columns) {
  for (std::size_t a = 0; a < chunk.size(); a += kColumn) {
    const auto ids = chunk.subspan(a, std::min(kColumn, chunk.size() - a));
    kernels::active().transpose(z + a * in.lanes, in.lanes, ids.size(), in.lanes, kColumn, columns.data());
    for (std::size_t s = 0; s < in.samples; ++s) best[s].offer(ids, columns.data() + s * kColumn);
  }
}

// Offers the scores z [tile x lanes] of block b that reach the thresholds.
void keep_best(std::size_t b, std::span<const std::uint32_t> chunk, const float* z, PredictionBatch& batch,
               ExactPass::Scratch& scratch) {
  const BlockInput& in = batch.inputs[b];
  TopK* best = batch.best.data() + batch.sample(b, 0);
  const char* exact = batch.exact.data() + batch.sample(b, 0);
  if (batch.k > TopK::kMaxInOrder) return keep_many(chunk, in, z, best, scratch.columns);
  for (std::size_t s = 0; s < in.lanes; ++s)
    scratch.threshold[s] =
        s < in.samples && exact[s] != 0 ? best[s].threshold() : std::numeric_limits<float>::infinity();
  const std::size_t found = kernels::active().select_above(z, chunk.size(), in.lanes,
                                                           scratch.threshold.data(), scratch.places.data());
  const auto lanes = static_cast<std::uint32_t>(in.lanes);
  for (std::size_t i = 0; i < found; ++i) {
    const std::uint32_t at = scratch.places[i];
    best[at % lanes].offer(chunk[at / lanes], z[at]);
  }
}

// Adds the scores z [tile x lanes] of block b to log_norm; overwrites z.
void add_norms(std::size_t b, std::size_t count, float* z, PredictionBatch& batch,
               ExactPass::Scratch& scratch) {
  const BlockInput& in = batch.inputs[b];
  kernels::active().softmax_lanes(z, in.lanes, count, in.lanes, 1.0f, scratch.chunk_norm.data());
  for (std::size_t s = 0; s < in.samples; ++s) batch.add_log_norm(batch.sample(b, s), scratch.chunk_norm[s]);
}

}  // namespace

ExactPass::Scratch ExactPass::make_scratch(std::size_t blocks, std::size_t lanes) const {
  return {chunks_.make_scratch(blocks, lanes), std::vector<float>(lanes),
          std::vector<std::uint32_t>(chunks_.neurons() * lanes + 1), std::vector<float>(lanes),
          AlignedArray<float>(kColumn * lanes)};
}

void ExactPass::score(std::span<const std::uint32_t> ids, const WidePostings* postings,
                      std::span<const std::uint32_t> blocks, PredictionBatch& batch, Scratch& scratch) const {
  if (blocks.empty()) return;
  chunks_.go_over(
      ids, postings, blocks, batch, scratch.chunks,
      [&](std::span<const BlockInput> inputs, std::span<const std::uint32_t> chunk, float* z) {
        output_.score(inputs, chunk, batch.output_scratch(), z);
      },
      [&](std::size_t b, std::span<const std::uint32_t> chunk, float* z) {
        keep_best(b, chunk, z, batch, scratch);
        if (batch.log_softmax) add_norms(b, chunk.size(), z, batch, scratch);
      });
}

}  // namespace slide
