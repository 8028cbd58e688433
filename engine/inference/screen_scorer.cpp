#include "engine/inference/screen_scorer.h"

#include <algorithm>

namespace slide {

std::unique_ptr<Scorer::Scratch> ScreenScorer::make_scratch(std::size_t blocks, std::size_t lanes) const {
  auto scratch = std::make_unique<Scratch>();
  scratch->full = full_.make_full_scratch(blocks, lanes);
  scratch->screen = screen_.make_scratch();
  return scratch;
}

void ScreenScorer::score(Panel& panel, Scorer::Scratch& scratch) const {
  auto& own = static_cast<Scratch&>(scratch);
  if (panel.log_softmax) return full_.score(panel, *own.full);
  std::vector<std::uint32_t>& candidates = own.candidates;
  candidates.clear();
  screen_.find(panel.inputs.front(), panel.single_features(0, 0), panel.k, own.screen, candidates);
  if (panel.votes) {
    for (const PanelVotes::Vote& vote : panel.votes->of(0)) candidates.push_back(vote.label);
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
  }
  full_.pass().score(candidates, nullptr, own.full->all_blocks, panel, own.full->pass);
}

}  // namespace slide
