// The best labels of a sample alone, soon: bounds of their scores for all output neurons (Screen), and exact
// scores of those alone that could be among the best. Where bounds say too little, and where all exact scores
// are asked for, FullScorer does the work.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/inference/full_scorer.h"
#include "engine/inference/hit_scores.h"
#include "engine/inference/scorer.h"
#include "engine/inference/screen.h"

namespace slide {

class ScreenScorer final : public Scorer {
 public:
  // Of a network with a dense first layer. `full`, of the same network, must live on; `bounds` of its wide
  // path, nullptr without one.
  ScreenScorer(const FullScorer& full, const Network& network, std::shared_ptr<const WideBounds> bounds)
      : full_(full),
        screen_(full.output(), full.postings(), std::move(bounds)),
        hits_(full.output(), network.sample_features()) {}

  // Whether there are bounds on the errors of rough scores: else it must not be used.
  bool bounded() const { return screen_.bounded(); }

  // For one sample: `blocks` and `lanes` are 1.
  std::unique_ptr<Scorer::Scratch> make_scratch(std::size_t blocks, std::size_t lanes) const override;
  void score(Panel& panel, Scorer::Scratch& scratch) const override;
  std::size_t bytes() const override { return screen_.bytes(); }

 private:
  struct Scratch final : Scorer::Scratch {
    std::unique_ptr<FullScorer::Scratch> full;
    Screen::Scratch screen;
    HitScores::Scratch hit_scores;
    std::vector<HitScores::Hit> hits;
  };

  bool score_hits(Panel& panel, Scratch& scratch) const;

  const FullScorer& full_;
  Screen screen_;
  HitScores hits_;
};

}  // namespace slide
