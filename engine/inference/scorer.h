// Interface of the scorers, which find the top labels of the samples of a batch: FullScorer,
// BoundedScorer (exact) and CandidateScorer (approximate).
#pragma once

#include <cstddef>
#include <memory>

#include "engine/inference/prediction_batch.h"

namespace slide {

// Immutable, safe from any thread; refers to the network, which must not change.
class Scorer {
 public:
  // Working memory of one thread; use it only with the scorer that made it.
  struct Scratch {
    virtual ~Scratch() = default;
  };

  virtual ~Scorer() = default;
  // For batches of up to `blocks` blocks of `lanes` samples.
  virtual std::unique_ptr<Scratch> make_scratch(std::size_t blocks, std::size_t lanes) const = 0;
  // Fills in the results of `batch`, which has begun: best, and log_norm and votes where needed.
  virtual void score(PredictionBatch& batch, Scratch& scratch) const = 0;
  // Memory used besides the network's.
  virtual std::size_t bytes() const { return 0; }
};

}  // namespace slide
