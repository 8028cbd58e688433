// Bounded exact top-k scoring of a prediction batch over all output neurons (BoundedPass). FullScorer scores
// a block exactly where bounds are unavailable or prune too little, and where all exact scores are requested.
//
// Immutable, safe from any thread with one Scratch per thread (Scorer).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/inference/bounded_pass.h"
#include "engine/inference/full_scorer.h"
#include "engine/inference/scorer.h"

namespace slide {

class BatchBoundedScorer final : public Scorer {
 public:
  // For a network with a dense first layer. `full` is of the same network and must outlive this object;
  // `bounds` belongs to the network's linear term, nullptr without one.
  BatchBoundedScorer(const FullScorer& full, const Network& network, std::shared_ptr<const WideBounds> bounds,
                     int threads);

  // Whether approximate scores have error bounds.
  bool bounded() const { return pass_.bounded(); }

  std::unique_ptr<Scorer::Scratch> make_scratch(std::size_t blocks, std::size_t lanes) const override;
  void score(PredictionBatch& batch, Scorer::Scratch& scratch) const override;
  std::size_t bytes() const override { return pass_.bytes() + by_length_.size() * sizeof(by_length_[0]); }

 private:
  struct Scratch final : Scorer::Scratch {
    std::unique_ptr<FullScorer::Scratch> full;
    BoundedPass::Scratch pass;
  };

  const FullScorer& full_;
  std::vector<std::uint32_t> by_length_;  // all neurons, without a linear term
  BoundedPass pass_;
};

}  // namespace slide
