#include "engine/inference/bounded_scorer.h"

namespace slide {

std::unique_ptr<Scorer::Scratch> BoundedScorer::make_scratch(std::size_t blocks, std::size_t lanes) const {
  auto scratch = std::make_unique<Scratch>();
  scratch->full = full_.make_full_scratch(blocks, lanes);
  scratch->pass = pass_.make_scratch(blocks, lanes);
  return scratch;
}

void BoundedScorer::score(PredictionBatch& batch, Scorer::Scratch& scratch) const {
  auto& own = static_cast<Scratch&>(scratch);
  if (!BoundedPass::may_score(batch)) return full_.score(batch, *own.full);
  full_.score(pass_.score(batch, own.pass), batch, own.full->pass);
}

}  // namespace slide
