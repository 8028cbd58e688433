#include "engine/inference/batch_bounded_scorer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {

// Lengths of rows are told apart by some bits of their squares, 2 % each, so that neurons of about one length
// stay in ascending order, as their rows lie in memory.
constexpr int kDropped = 18;

// The neurons of a layer by falling length of their rows. O(n), with `threads` threads but for the order.
std::vector<std::uint32_t> by_length(const Layer& layer, int threads) {
  const std::size_t rows = layer.size(), columns = layer.inputs();
  std::vector<std::uint32_t> keys(rows), ids(rows);
  const auto threads_used = static_cast<std::size_t>(threads);
  parallel_for(threads_used, threads, [&](std::size_t part, int) {
    std::vector<float> row(columns);
    for (std::size_t r = rows * part / threads_used; r < rows * (part + 1) / threads_used; ++r) {
      layer.weights().load_row(r, row.data());
      const float length2 = kernels::active().dot(row.data(), row.data(), columns);
      keys[r] = std::bit_cast<std::uint32_t>(length2) >> kDropped;
    }
  });
  std::vector<std::size_t> places((std::size_t{1} << (32 - kDropped)) + 1);
  for (const std::uint32_t key : keys) ++places[key];
  std::size_t next = 0;
  for (auto place = places.rbegin(); place != places.rend(); ++place) next += std::exchange(*place, next);
  for (std::uint32_t r = 0; r < rows; ++r) ids[places[keys[r]]++] = r;
  return ids;
}

}  // namespace

BatchBoundedScorer::BatchBoundedScorer(const FullScorer& full, const Network& network,
                                       std::shared_ptr<const WideBounds> bounds, int threads)
    : full_(full),
      by_length_(bounds ? std::vector<std::uint32_t>() : by_length(network.output(), threads)),
      pass_(network,
            by_length_.empty() ? network.output().all_neurons() : std::span<const std::uint32_t>(by_length_),
            full.postings(), std::move(bounds), threads) {}

std::unique_ptr<Scorer::Scratch> BatchBoundedScorer::make_scratch(std::size_t blocks,
                                                                  std::size_t lanes) const {
  auto scratch = std::make_unique<Scratch>();
  scratch->full = full_.make_full_scratch(blocks, lanes);
  scratch->pass = pass_.make_scratch(blocks, lanes);
  return scratch;
}

void BatchBoundedScorer::score(PredictionBatch& batch, Scorer::Scratch& scratch) const {
  auto& own = static_cast<Scratch&>(scratch);
  if (!BoundedPass::may_score(batch)) return full_.score(batch, *own.full);
  full_.score(pass_.score(batch, own.pass), batch, own.full->pass);
}

}  // namespace slide
