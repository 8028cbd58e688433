// A way to find the best labels of samples: over all output neurons or over some, exactly or roughly first.
#pragma once

#include <cstddef>
#include <memory>

#include "engine/inference/prediction_batch.h"

namespace slide {

// Immutable, safe from any thread; refers to the network, which must not change meanwhile.
class Scorer {
 public:
  // Working memory of one thread, of the scorer that made it alone.
  struct Scratch {
    virtual ~Scratch() = default;
  };

  virtual ~Scorer() = default;
  // For batches of up to `blocks` blocks of `lanes` samples.
  virtual std::unique_ptr<Scratch> make_scratch(std::size_t blocks, std::size_t lanes) const = 0;
  // Fills in what `batch`, begun with, leaves to a Scorer.
  virtual void score(PredictionBatch& batch, Scratch& scratch) const = 0;
  // Of the memory it has beside the network's; 0 where that is next to nothing.
  virtual std::size_t bytes() const { return 0; }
};

}  // namespace slide
