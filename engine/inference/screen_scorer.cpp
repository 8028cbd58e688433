#include "engine/inference/screen_scorer.h"

namespace slide {

namespace {
constexpr std::size_t kHitCost = 8;  // of one neuron's exact score, in those of all neurons scored together
}  // namespace

std::unique_ptr<Scorer::Scratch> ScreenScorer::make_scratch(std::size_t blocks, std::size_t lanes) const {
  auto scratch = std::make_unique<Scratch>();
  scratch->full = full_.make_full_scratch(blocks, lanes);
  scratch->screen = screen_.make_scratch();
  scratch->hit_scores = hits_.make_scratch();
  return scratch;
}

void ScreenScorer::score(Panel& panel, Scorer::Scratch& scratch) const {
  auto& own = static_cast<Scratch&>(scratch);
  if (panel.log_softmax || panel.k > HitScores::kMostBest) return full_.score(panel, *own.full);
  if (score_hits(panel, own)) return;
  panel.best.front().clear();
  if (panel.votes) panel.votes->restart(0);
  full_.score(panel, *own.full);
}

// False where there are no bounds, or so many neurons above them that scoring all is sooner done.
bool ScreenScorer::score_hits(Panel& panel, Scratch& scratch) const {
  if (!screen_.bound(panel.inputs.front(), panel.single_features(0, 0), scratch.screen)) return false;
  std::vector<HitScores::Hit>& hits = scratch.hits;
  hits.clear();
  if (panel.votes) hits_.score_first_votes(0, 0, panel, scratch.hit_scores);
  screen_.take_largest(std::max(HitScores::kFirst, panel.k), scratch.screen, hits);
  hits_.score(hits, 0, 0, panel, scratch.hit_scores);
  screen_.take_above(panel.best.front().threshold(), scratch.screen, hits);
  if (hits.size() > full_.output().size() / kHitCost) return false;
  hits_.score(hits, 0, 0, panel, scratch.hit_scores);
  if (panel.votes) hits_.score_last_votes(0, 0, panel, scratch.hit_scores);
  return true;
}

}  // namespace slide
