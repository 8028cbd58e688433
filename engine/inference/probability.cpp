#include "engine/inference/probability.h"

#include <limits>

#include "engine/kernels/kernels.h"

namespace slide {

void probabilities_of(LossKind loss, const float* scores, std::size_t count, double* p) {
  const bool log_softmax = is_normalised(loss);
  for (std::size_t i = 0; i < count; ++i) p[i] = log_softmax ? scores[i] : -double{scores[i]};
  kernels::active().exp(p, count);
  if (log_softmax) std::transform(p, p + count, p, [](double x) { return std::min(x, 1.0); });
  if (log_softmax) return;
  for (std::size_t i = 0; i < count; ++i) p[i] = 1.0 / (1.0 + p[i]);
}

double score_of(LossKind loss, double probability) {
  constexpr double kMin = std::numeric_limits<double>::min(), kMax = 1.0 - 0x1p-53;
  const double p = std::clamp(probability, kMin, kMax);
  return std::log(p) - (is_normalised(loss) ? 0.0 : std::log1p(-p));
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
