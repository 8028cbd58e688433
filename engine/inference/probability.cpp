#include "engine/inference/probability.h"

#include <algorithm>
#include <limits>

namespace slide {

double score_of(LossKind loss, double probability) {
  constexpr double kLeast = std::numeric_limits<double>::min(), kMost = 1.0 - 0x1p-53;
  const double p = std::clamp(probability, kLeast, kMost);
  return std::log(p) - (needs_log_softmax(loss) ? 0.0 : std::log1p(-p));
}

LogOddsOfShare::LogOddsOfShare(double share) {
  terms_[0] = std::log(share);
  double power = 1.0;
  for (std::size_t n = 1; n < kTerms; ++n) {
    power *= share;
    terms_[n] = (power - 1.0) / static_cast<double>(n);
  }
}

}  // namespace slide
