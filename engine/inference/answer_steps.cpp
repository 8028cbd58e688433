#include "engine/inference/answer_steps.h"

#include <algorithm>

namespace slide {

std::size_t AnswerSteps::kept_for(std::size_t k, std::size_t known, const RareRanking* rare) const {
  const std::size_t seen = calibration_ ? std::max(k, Calibration::kMassLabels) : k;
  return kept_for_cooccurrence(cooccurrence_knn_, RareRanking::kept_for(rare, seen + known));
}

std::span<const Prediction> AnswerSteps::answer(std::span<Prediction> best,
                                                std::span<const std::uint32_t> known, std::size_t k,
                                                const RareRanking* rare, Scratch& scratch) const {
  if (cooccurrence_knn_ != nullptr) propagate_cooccurrence(*cooccurrence_knn_, loss_, best);
  const double mass =
      calibration_
          ? Calibration::log_mass(without_known(best, known, Calibration::kMassLabels, scratch.unknown))
          : 0.0;
  if (rare != nullptr) rare->rank(loss_, best, scratch.rare);
  if (calibration_) calibration_->apply(mass, best);
  return without_known(best, known, k, scratch.unknown);
}

// The `k` best labels that are not in `known`.
std::span<const Prediction> AnswerSteps::without_known(std::span<const Prediction> best,
                                                       std::span<const std::uint32_t> known, std::size_t k,
                                                       std::vector<Prediction>& unknown) const {
  if (known.empty()) return best.first(std::min(k, best.size()));
  unknown.clear();
  for (const Prediction& one : best) {
    if (unknown.size() == k) break;
    if (!std::ranges::binary_search(known, first_label_ + one.label)) unknown.push_back(one);
  }
  return unknown;
}

}  // namespace slide
