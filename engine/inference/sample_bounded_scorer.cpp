#include "engine/inference/sample_bounded_scorer.h"

namespace slide {

namespace {
constexpr std::size_t kHitCost = 8;  // cost of one exact re-score, in scores of the full pass
}  // namespace

std::unique_ptr<Scorer::Scratch> SampleBoundedScorer::make_scratch(std::size_t blocks,
                                                                   std::size_t lanes) const {
  auto scratch = std::make_unique<Scratch>();
  scratch->full = full_.make_full_scratch(blocks, lanes);
  scratch->screen = screen_.make_scratch();
  scratch->candidate_rescorer = hits_.make_scratch();
  return scratch;
}

void SampleBoundedScorer::score(PredictionBatch& batch, Scorer::Scratch& scratch) const {
  auto& own = static_cast<Scratch&>(scratch);
  if (batch.log_softmax || batch.k > CandidateRescorer::kMaxBest) return full_.score(batch, *own.full);
  if (score_hits(batch, own)) return;
  batch.best.front().clear();
  if (batch.votes) batch.votes->restart(0);
  full_.score(batch, *own.full);
}

// Returns false where there are no bounds, or so many candidates that scoring all neurons is faster.
bool SampleBoundedScorer::score_hits(PredictionBatch& batch, Scratch& scratch) const {
  if (!screen_.bound(batch.inputs.front(), batch.single_features(0, 0), scratch.screen)) return false;
  std::vector<CandidateRescorer::Hit>& hits = scratch.hits;
  hits.clear();
  if (batch.votes) hits_.score_first_votes(0, 0, batch, scratch.candidate_rescorer);
  screen_.take_largest(std::max(CandidateRescorer::kFirst, batch.k), scratch.screen, hits);
  hits_.score(hits, 0, 0, batch, scratch.candidate_rescorer);
  screen_.take_above(batch.best.front().threshold(), scratch.screen, hits);
  if (hits.size() > full_.output().size() / kHitCost) return false;
  hits_.score(hits, 0, 0, batch, scratch.candidate_rescorer);
  if (batch.votes) hits_.score_last_votes(0, 0, batch, scratch.candidate_rescorer);
  return true;
}

}  // namespace slide
