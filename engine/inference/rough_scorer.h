// Scores all output neurons in bfloat16 first, and only those exactly that could be among the best by a
// PanelScreen's bound. Where that says too little, and where all exact scores are asked for, FullScorer does
// the work.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/inference/full_scorer.h"
#include "engine/inference/panel_screen.h"
#include "engine/inference/scorer.h"

namespace slide {

class RoughScorer final : public Scorer {
 public:
  // Of a network with a dense first layer and an output layer in fp32. `full`, of the same network, must live
  // on.
  RoughScorer(const FullScorer& full, int threads) : full_(full), screen_(full.output(), threads) {}

  // Whether rough scores have a bound at all.
  bool bounded() const { return screen_.bounded(); }

  std::unique_ptr<Scorer::Scratch> make_scratch(std::size_t blocks, std::size_t lanes) const override;
  void score(Panel& panel, Scorer::Scratch& scratch) const override;
  std::size_t bytes() const override { return 0; }

 private:
  struct Hit {  // a label that could be among the best
    std::uint32_t label;
    float score;  // rough
  };
  struct Scratch final : Scorer::Scratch {
    std::unique_ptr<FullScorer::Scratch> full;
    PanelScreen::Scratch screen;
    std::vector<std::vector<Hit>> hits;       // by sample
    std::vector<std::uint32_t> rough, exact;  // blocks to be scored so
    std::vector<bool> too_close;              // by block: for a sample, rough scores leave too many neurons
  };

  void choose_blocks(const Panel& panel, Scratch& scratch) const;
  float least_of_use(std::size_t sample, const Panel& panel, const Scratch& scratch) const;
  void keep_possible(std::size_t b, std::span<const std::uint32_t> chunk, const float* z, Panel& panel,
                     Scratch& scratch) const;
  void add_hit(std::size_t b, std::size_t sample, const Hit& hit, const Panel& panel, Scratch& scratch) const;
  void rescore(std::uint32_t b, Panel& panel, Scratch& scratch) const;
  void rescore_sample(std::size_t b, std::size_t s, Panel& panel, Scratch& scratch) const;

  const FullScorer& full_;
  PanelScreen screen_;
};

}  // namespace slide
