#include "engine/inference/rare_ranking.h"

#include <algorithm>
#include <cmath>

#include "engine/inference/probability.h"

namespace slide {

namespace {

// Logarithm of the probability of a score; under a normalised loss, up to the normaliser.
double log_probability_of(LossKind loss, double score) {
  return is_normalised(loss) ? score : -log_of_sum(0.0, -score);
}

}  // namespace

// Sorts by log p + power * log(inverse propensity); scores stay with their labels.
void RareRanking::rank(LossKind loss, std::span<Prediction> best, Scratch& scratch) const {
  scratch.clear();
  for (const Prediction& one : best)
    scratch.emplace_back(
        log_probability_of(loss, static_cast<double>(one.score)) + power_ * std::log((*inverse_)[one.label]),
        one);
  std::ranges::sort(scratch, [](const auto& a, const auto& b) {
    return a.first > b.first || (a.first == b.first && a.second.label < b.second.label);
  });
  std::ranges::transform(scratch, best.begin(), [](const auto& one) { return one.second; });
}

std::shared_ptr<const RareRanking> make_rare_ranking(Metrics::Propensities inverse_propensities,
                                                     double power) {
  if (power == 0) return nullptr;
  return std::make_shared<const RareRanking>(std::move(inverse_propensities), power);
}

}  // namespace slide
