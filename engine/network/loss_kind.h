// Properties of each loss on which other parts of the engine depend. A new LossKind needs a case in each
// function; the compiler warns of a missing one. Pure functions.
#pragma once

#include "engine/config/settings.h"

namespace slide {

// Whether the loss of a sample needs a sum over all its active neurons (softmax). The score of a label is
// then a log-probability, else its logit z, whose probability is 1 / (1 + exp(-z)).
constexpr bool is_normalised(LossKind loss) {
  switch (loss) {
    case LossKind::kSoftmax:
      return true;
    case LossKind::kSigmoid:
      return false;
  }
  return false;
}

// Whether output biases start at a share (loss.prior) of the labels' log-odds, and layer.wide_fit applies.
constexpr bool starts_at_frequencies(LossKind loss) {
  switch (loss) {
    case LossKind::kSigmoid:
      return true;
    case LossKind::kSoftmax:
      return false;
  }
  return false;
}

}  // namespace slide
