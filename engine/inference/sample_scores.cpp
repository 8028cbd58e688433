#include "engine/inference/sample_scores.h"

#include <algorithm>

#include "engine/kernels/kernels.h"
#include "engine/wide/linear_term.h"

namespace slide {

namespace {
constexpr std::size_t kAtOnce = kernels::kLaneMultiple;  // neurons per kernel call; sums in the same order
}

SampleScores::Scratch SampleScores::make_scratch() const {
  Scratch scratch;
  if (linear_term_of(output_) != nullptr) scratch.by_feature = AlignedArray<float>(features_);
  scratch.ids.resize(kAtOnce);
  scratch.z.resize(kAtOnce);
  return scratch;
}

void SampleScores::begin(const BlockInput& in, std::size_t s, const SparseRow& row, Scratch& scratch) const {
  scratch.in = in;
  scratch.in.lanes = scratch.in.samples = 1;
  scratch.in.x = scratch.in.xt = in.x + s * in.ldx;
  scratch.in.features = nullptr;
  scratch.row = row;
  if (scratch.by_feature.empty()) return;
  for (std::size_t i = 0; i < row.ids.size(); ++i) scratch.by_feature[row.ids[i]] = row.values[i];
}

void SampleScores::end(Scratch& scratch) const {
  if (scratch.by_feature.empty()) return;
  for (const std::uint32_t id : scratch.row.ids) scratch.by_feature[id] = 0.0F;
}

void SampleScores::score(std::span<const std::uint32_t> ids, LayerScratch& layer, Scratch& scratch,
                         float* z) const {
  for (std::size_t i = 0; i < ids.size(); i += kAtOnce) {
    const auto some = ids.subspan(i, std::min(kAtOnce, ids.size() - i));
    score_some(some, layer, scratch, z + i);
  }
}

// Scores up to a tile of ids. The rest of the tile repeats the last id: products of one shape give a score
// the same bits in every call.
void SampleScores::score_some(std::span<const std::uint32_t> ids, LayerScratch& layer, Scratch& scratch,
                              float* z) const {
  const LinearTerm* wide = linear_term_of(output_);
  if (wide != nullptr) {
    for (const std::uint32_t id : ids) wide->prefetch(id);
  }
  std::fill(std::copy(ids.begin(), ids.end(), scratch.ids.begin()), scratch.ids.end(), ids.back());
  output_.score({&scratch.in, 1}, scratch.ids, layer, scratch.z.data());
  std::copy_n(scratch.z.begin(), ids.size(), z);
  if (wide != nullptr) wide->add_scores(ids, scratch.by_feature.data(), scratch.weights, z);
}

}  // namespace slide
