#include "engine/inference/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/inference/probability.h"
#include "engine/network/loss.h"
#include "engine/wide/cholesky.h"

namespace slide {

namespace {

constexpr std::size_t kTerms = 3;
using Terms = std::array<double, kTerms>;  // slope, offset, mass; or one value for each of them
// Lower half of a symmetric matrix, by rows.
using SymmetricMatrix = std::array<double, kTerms * kTerms>;

double dot(const Terms& x, const Terms& w) {
  return x[0] * w[0] + x[1] * w[1] + x[2] * w[2];
}

// Solves (hessian + share * bound + a small ridge) step = gradient.
Terms newton_step(const SymmetricMatrix& hessian, const SymmetricMatrix& bound, double share,
                  const Terms& gradient) {
  constexpr double kRidge = 1e-9;  // terms that are the same for all pairs have a solution, too
  SymmetricMatrix matrix = hessian;
  for (std::size_t i = 0; i < kTerms; ++i) {
    for (std::size_t j = 0; j <= i; ++j) matrix[i * kTerms + j] += share * bound[i * kTerms + j];
    matrix[i * (kTerms + 1)] += kRidge * (1 + bound[i * (kTerms + 1)]);
  }
  Terms step = gradient;
  solve_by_cholesky(kTerms, matrix.data(), step.data());
  return step;
}

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

// Logistic loss of the pairs under the terms w, with Platt's smoothed targets.
class CalibrationFit::Loss {
 public:
  Loss(std::span<const Pair> pairs, double hits, double misses)
      : pairs_(pairs), hit_target_((hits + 1) / (hits + 2)), miss_target_(1 / (misses + 2)) {}

  double at(const Terms& w) const {
    double sum = 0;
    for (const Pair& pair : pairs_) {
      const double s = dot(inputs_of(pair), w);
      sum += softplus(s) - target_of(pair) * s;
    }
    return sum;
  }

  struct Derivatives {
    Terms gradient{};
    SymmetricMatrix hessian{};
    SymmetricMatrix bound{};  // of the Hessian for any w, as p (1 - p) <= 1/4
  };
  // Derivatives of the log loss, summed over the pairs (lower triangles of matrices): gradient, Hessian, and
  // an upper bound of the Hessian with p (1 - p) <= 1/4.
  Derivatives derivatives_at(const Terms& w) const {
    Derivatives sum;
    for (const Pair& pair : pairs_) {
      const Terms x = inputs_of(pair);
      const double p = probability_of(LossKind::kSigmoid, dot(x, w));
      for (std::size_t i = 0; i < kTerms; ++i) {
        sum.gradient[i] += (p - target_of(pair)) * x[i];
        for (std::size_t j = 0; j <= i; ++j) {
          sum.hessian[i * kTerms + j] += p * (1 - p) * x[i] * x[j];
          sum.bound[i * kTerms + j] += 0.25 * x[i] * x[j];
        }
      }
    }
    return sum;
  }

 private:
  static Terms inputs_of(const Pair& pair) { return {pair.score, 1.0, pair.log_mass}; }
  double target_of(const Pair& pair) const { return pair.hit ? hit_target_ : miss_target_; }

  std::span<const Pair> pairs_;
  double hit_target_, miss_target_;
};

// Minimises the log loss over w = (slope, offset, mass) by Newton's method.
std::optional<Calibration> CalibrationFit::fit() const {
  constexpr int kMaxSteps = 100;
  constexpr double kMinGain = 1e-10;  // of the loss by a step, relative
  const auto hits = static_cast<double>(std::ranges::count_if(pairs_, &Pair::hit));
  const double misses = static_cast<double>(pairs_.size()) - hits;
  if (hits == 0 || misses == 0) return std::nullopt;
  const Loss loss(pairs_, hits, misses);
  Terms w = {1, 0, 0};
  double min_loss = loss.at(w);
  for (int i = 0; i < kMaxSteps; ++i) {
    const auto [gradient, hessian, bound] = loss.derivatives_at(w);
    double next_loss = min_loss;
    Terms next = w;
    // Where a Newton step would raise the loss, tries again with growing shares of the bound added; steps by
    // the bound alone never raise the loss (Boehning and Lindsay, "Monotonicity of quadratic-approximation
    // algorithms", 1988).
    for (const double share : {0.0, 0.01, 0.1, 1.0}) {
      const Terms step = newton_step(hessian, bound, share, gradient);
      for (std::size_t t = 0; t < kTerms; ++t) next[t] = w[t] - step[t];
      next_loss = loss.at(next);
      if (next_loss <= min_loss) break;
    }
    if (!(next_loss <= min_loss)) break;
    const double gain = min_loss - next_loss;
    w = next, min_loss = next_loss;
    if (gain <= kMinGain * min_loss) break;
  }
  const bool finite = std::ranges::all_of(w, [](double term) { return std::isfinite(term); });
  if (!finite || !(w[0] > 0)) return std::nullopt;
  return Calibration{static_cast<float>(w[0]), static_cast<float>(w[1]), static_cast<float>(w[2])};
}

}  // namespace slide
