#include "engine/inference/probability.h"

#include <algorithm>
#include <limits>

namespace slide {

double score_of(LossKind loss, double probability) {
  constexpr double kLeast = std::numeric_limits<double>::min(), kMost = 1.0 - 0x1p-53;
  const double p = std::clamp(probability, kLeast, kMost);
  return std::log(p) - (needs_log_softmax(loss) ? 0.0 : std::log1p(-p));
}

}  // namespace slide
