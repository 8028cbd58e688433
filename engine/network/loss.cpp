#include "engine/network/loss.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/kernels.h"

namespace slide {

namespace {

// Zeroes the lanes from `samples` on, and the lanes of samples without labels when `skip_unlabelled`.
void clear_spare_lanes(const BlockTargets& t, bool skip_unlabelled, float* z) {
  for (std::size_t s = 0; s < t.lanes; ++s) {
    const bool used = s < t.samples && !(skip_unlabelled && t.set->labels_of(s).empty());
    if (used) continue;
    for (std::size_t a = 0; a < t.count; ++a) z[a * t.lanes + s] = 0.0f;
  }
}

double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

}  // namespace

double softmax_loss(const BlockTargets& t, float scale, float* z, float* log_norm) {
  if (t.count == 0) return 0.0;
  double label_logits = 0.0;
  for (std::size_t s = 0; s < t.samples; ++s) {
    const auto labels = t.set->labels_of(s);
    double sum = 0.0;
    for (const std::uint32_t at : labels) sum += z[at * t.lanes + s];
    if (!labels.empty()) label_logits += sum / double(labels.size());
  }
  kernels::active().softmax_lanes(z, t.count, t.lanes, scale, log_norm);
  clear_spare_lanes(t, true, z);
  double loss = -label_logits;
  for (std::size_t s = 0; s < t.samples; ++s) {
    const auto labels = t.set->labels_of(s);
    if (labels.empty()) continue;
    loss += log_norm[s];
    const float target = scale / static_cast<float>(labels.size());
    for (const std::uint32_t at : labels) z[at * t.lanes + s] -= target;
  }
  return loss;
}

double logistic_loss(const BlockTargets& t, double positive_weight, float scale, float* z) {
  double loss = 0.0;
  // Labels first, on the side: each takes its share as a negative back and adds its own as a positive.
  for (std::size_t s = 0; s < t.samples; ++s) {
    for (const std::uint32_t at : t.set->labels_of(s)) {
      const double x = z[at * t.lanes + s];
      loss += positive_weight * softplus(-x) - softplus(x);
    }
  }
  const auto& k = kernels::active();
  for (std::size_t a = 0; a < t.count; ++a) {
    loss += double(k.logistic_loss(z + a * t.lanes, t.samples, scale)) / scale;
  }
  clear_spare_lanes(t, false, z);
  for (std::size_t s = 0; s < t.samples; ++s) {
    for (const std::uint32_t at : t.set->labels_of(s)) {
      float& d = z[at * t.lanes + s];
      const double sigma = double(d) / scale;
      d = static_cast<float>(positive_weight * scale * (sigma - 1.0));
    }
  }
  return loss;
}

}  // namespace slide
