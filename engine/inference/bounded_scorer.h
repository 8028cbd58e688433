// Bounded exact top-k scoring over all output neurons (BoundedPass), of batches and of single samples.
// FullScorer scores a block exactly where bounds are unavailable or prune too little, and where all exact
// scores are requested.
//
// Immutable, safe from any thread with one Scratch per thread (Scorer).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/inference/bounded_pass.h"
#include "engine/inference/full_scorer.h"
#include "engine/inference/scorer.h"

namespace slide {

class BoundedScorer final : public Scorer {
 public:
  // `order`: all neurons of the network, which has a dense first layer, in the order in which they are
  // bounded; `bounds`: of its linear term, nullptr without one; `kept`, `form`: as for BoundedPass. `full` is
  // of the same network; it and `order` must outlive this object.
  BoundedScorer(const FullScorer& full, const Network& network, std::span<const std::uint32_t> order,
                std::shared_ptr<const WideBounds> bounds, std::size_t kept, BatchBounds::Form form,
                int threads)
      : full_(full), pass_(network, order, kept, form, full.postings(), std::move(bounds), threads) {}

  // Whether approximate scores have error bounds.
  bool bounded() const { return pass_.bounded(); }

  std::unique_ptr<Scorer::Scratch> make_scratch(std::size_t blocks, std::size_t lanes) const override;
  void score(PredictionBatch& batch, Scorer::Scratch& scratch) const override;
  std::size_t bytes() const override { return pass_.bytes(); }

 private:
  struct Scratch final : Scorer::Scratch {
    std::unique_ptr<FullScorer::Scratch> full;
    BoundedPass::Scratch pass;
  };

  const FullScorer& full_;
  BoundedPass pass_;
};

}  // namespace slide
