// Early stopping: ends a run after `patience` validations in a row without a better score. Plain value; a
// part of checkpoints.
#pragma once

#include <algorithm>
#include <cstdint>

namespace slide {

struct EarlyStopping {
  double best = -1.0;                // score so far
  std::uint32_t without_better = 0;  // validations since then

  // Records the score of a validation; returns whether it is the best so far.
  bool record(double score) {
    const bool better = score > best;
    best = std::max(score, best);
    without_better = better ? 0 : without_better + 1;
    return better;
  }
  // Whether training ends now; never with patience 0.
  bool is_over(std::uint32_t patience) const { return patience > 0 && without_better >= patience; }
};

}  // namespace slide
