#include "engine/inference/sample_bounded_scorer.h"

namespace slide {

namespace {
constexpr std::size_t kRescoreCost = 8;  // of one candidate, in scores of a pass over all neurons
}  // namespace

std::unique_ptr<Scorer::Scratch> SampleBoundedScorer::make_scratch(std::size_t blocks,
                                                                   std::size_t lanes) const {
  auto scratch = std::make_unique<Scratch>();
  scratch->full = full_.make_full_scratch(blocks, lanes);
  scratch->bounds = bounds_.make_scratch();
  scratch->rescorer = rescorer_.make_scratch();
  return scratch;
}

void SampleBoundedScorer::score(PredictionBatch& batch, Scorer::Scratch& scratch) const {
  auto& own = static_cast<Scratch&>(scratch);
  if (batch.log_softmax || batch.k > CandidateRescorer::kMaxBest) return full_.score(batch, *own.full);
  if (score_by_bounds(batch, own)) return;
  batch.best.front().clear();
  if (batch.votes) batch.votes->restart(0);
  full_.score(batch, *own.full);
}

// Scores the neurons with the largest bounds exactly, then those whose bounds reach the k-th best of these.
// Returns false where there are no bounds, or so many candidates that scoring all neurons is faster.
bool SampleBoundedScorer::score_by_bounds(PredictionBatch& batch, Scratch& scratch) const {
  if (!bounds_.bound(batch.inputs.front(), batch.single_features(0, 0), scratch.bounds)) return false;
  std::vector<CandidateRescorer::Candidate>& candidates = scratch.candidates;
  candidates.clear();
  if (batch.votes) rescorer_.score_first_votes(0, 0, batch, scratch.rescorer);
  bounds_.take_largest(std::max(CandidateRescorer::kFirst, batch.k), scratch.bounds, candidates);
  rescorer_.score(candidates, 0, 0, batch, scratch.rescorer);
  bounds_.take_above(batch.best.front().threshold(), scratch.bounds, candidates);
  if (candidates.size() > full_.output().size() / kRescoreCost) return false;
  rescorer_.score(candidates, 0, 0, batch, scratch.rescorer);
  if (batch.votes) rescorer_.score_last_votes(0, 0, batch, scratch.rescorer);
  return true;
}

}  // namespace slide
