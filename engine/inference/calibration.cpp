#include "engine/inference/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/inference/probability.h"
#include "engine/network/loss.h"
#include "engine/wide/cholesky.h"

namespace slide {

namespace {

constexpr std::size_t kTerms = 3;  // slope, offset, mass
using Terms = std::array<double, kTerms>;

// Lower half of a symmetric matrix, by rows.
using Curvature = std::array<double, kTerms * kTerms>;

}  // namespace

double Calibration::log_mass(std::span<const Prediction> best) {
  double sum = 0;
  for (const Prediction& one : best.first(std::min(best.size(), kMassLabels)))
    sum += probability_of(LossKind::kSigmoid, one.score);
  constexpr double kMin = 1e-30;  // of scores that are all 0
  return std::log(std::max(sum, kMin));
}

void Calibration::apply(double log_mass, std::span<Prediction> labels) const {
  const double shift = offset + mass * log_mass;
  for (Prediction& one : labels) one.score = static_cast<float>(slope * double(one.score) + shift);
}

void CalibrationFit::add(std::span<const Prediction> best, std::span<const std::uint32_t> truth) {
  const auto log_mass = static_cast<float>(Calibration::log_mass(best));
  for (const Prediction& one : best)
    pairs_.push_back({one.score, log_mass, std::ranges::binary_search(truth, one.label)});
}

std::optional<Calibration> CalibrationFit::fit() const {
  constexpr int kSteps = 100;
  constexpr double kEnough = 1e-10, kRidge = 1e-9;
  const auto hits = static_cast<double>(std::ranges::count_if(pairs_, &Pair::hit));
  const double misses = static_cast<double>(pairs_.size()) - hits;
  if (hits == 0 || misses == 0) return std::nullopt;
  const double hit_target = (hits + 1) / (hits + 2), miss_target = 1 / (misses + 2);
  const auto terms_of = [](const Pair& pair) { return Terms{pair.score, 1.0, pair.log_mass}; };
  const auto value = [](const Terms& x, const Terms& w) { return x[0] * w[0] + x[1] * w[1] + x[2] * w[2]; };
  const auto loss = [&](const Terms& w) {
    double sum = 0;
    for (const Pair& pair : pairs_) {
      const double s = value(terms_of(pair), w);
      sum += softplus(s) - (pair.hit ? hit_target : miss_target) * s;
    }
    return sum;
  };
  Terms w = {1, 0, 0};
  double least = loss(w);
  // Newton steps. Where a step would raise the loss, tries again with growing parts of the curvature bound p
  // (1 - p) <= 1/4 added; steps by the bound alone never raise the loss (Boehning and Lindsay, "Monotonicity
  // of quadratic-approximation algorithms", 1988).
  for (int step = 0; step < kSteps; ++step) {
    Terms gradient{};
    Curvature curvature{}, bound{};
    for (const Pair& pair : pairs_) {
      const Terms x = terms_of(pair);
      const double p = probability_of(LossKind::kSigmoid, value(x, w));
      for (std::size_t i = 0; i < kTerms; ++i) {
        gradient[i] += (p - (pair.hit ? hit_target : miss_target)) * x[i];
        for (std::size_t j = 0; j <= i; ++j) {
          curvature[i * kTerms + j] += p * (1 - p) * x[i] * x[j];
          bound[i * kTerms + j] += 0.25 * x[i] * x[j];
        }
      }
    }
    double found = least;
    Terms next = w;
    for (const double part : {0.0, 0.01, 0.1, 1.0}) {
      Curvature mixed = curvature;
      for (std::size_t i = 0; i < kTerms; ++i) {
        for (std::size_t j = 0; j <= i; ++j) mixed[i * kTerms + j] += part * bound[i * kTerms + j];
        // Terms that are the same for all pairs have a solution, too.
        mixed[i * (kTerms + 1)] += kRidge * (1 + bound[i * (kTerms + 1)]);
      }
      Terms towards = gradient;
      solve_by_cholesky(kTerms, mixed.data(), towards.data());
      for (std::size_t i = 0; i < kTerms; ++i) next[i] = w[i] - towards[i];
      found = loss(next);
      if (found <= least) break;
    }
    if (!(found <= least)) break;
    const double gain = least - found;
    w = next, least = found;
    if (gain <= kEnough * least) break;
  }
  const bool sound = std::ranges::all_of(w, [](double term) { return std::isfinite(term); });
  if (!sound || !(w[0] > 0)) return std::nullopt;
  return Calibration{static_cast<float>(w[0]), static_cast<float>(w[1]), static_cast<float>(w[2])};
}

}  // namespace slide
