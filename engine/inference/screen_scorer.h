// Scores the neurons of a sample alone that a Screen leaves. Where all exact scores are asked for, FullScorer
// does the work.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/inference/full_scorer.h"
#include "engine/inference/scorer.h"
#include "engine/inference/screen.h"

namespace slide {

class ScreenScorer final : public Scorer {
 public:
  // Of a network with a dense first layer. `full`, of the same network, must live on.
  explicit ScreenScorer(const FullScorer& full) : full_(full), screen_(full.output(), full.postings()) {}

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
    std::vector<std::uint32_t> candidates;
  };

  const FullScorer& full_;
  Screen screen_;
};

}  // namespace slide
