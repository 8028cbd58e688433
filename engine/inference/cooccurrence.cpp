#include "engine/inference/cooccurrence.h"

#include <array>
#include <utility>

#include "engine/inference/probability.h"

namespace slide {

namespace {

constexpr std::size_t kMaxPropagating = 3;  // propagating labels per receiving label

// The largest probabilities propagated to one label, descending.
struct Propagated {
  std::array<double, kMaxPropagating> largest{};

  void add(double probability) {
    for (double& one : largest)
      if (probability > one) std::swap(probability, one);
  }
  double noisy_or() const {
    double none = 1.0;
    for (const double one : largest) none *= 1.0 - one;
    return 1.0 - none;
  }
};

}  // namespace

const Neighbours* knn_with_cooccurrence(const Neighbours* neighbours) {
  if (neighbours == nullptr || neighbours->cooccurrence_share() == 0) return nullptr;
  neighbours->cooccurrence();  // computed now, not at the first sample
  return neighbours;
}

// Formula in cooccurrence.h. All probabilities are read first: what a label receives is not propagated
// further.
void propagate_cooccurrence(const Neighbours& cooccurrence_knn, LossKind loss, std::span<Prediction> best) {
  const auto top = best.first(std::min(best.size(), kPropagatingLabels));
  const LabelCooccurrence& cooccurrence = cooccurrence_knn.cooccurrence();
  std::array<double, kPropagatingLabels> probabilities;
  std::array<Propagated, kPropagatingLabels> propagated;
  for (std::size_t i = 0; i < top.size(); ++i) probabilities[i] = probability_of(loss, top[i].score);
  for (std::size_t i = 0; i < top.size(); ++i) {
    const double share = cooccurrence_knn.cooccurrence_share() * probabilities[i];
    for (const auto& [label, probability] : cooccurrence.of(top[i].label)) {
      const auto at = std::ranges::find(top, label, &Prediction::label);
      if (at != top.end()) propagated[static_cast<std::size_t>(at - top.begin())].add(share * probability);
    }
  }
  for (std::size_t i = 0; i < top.size(); ++i) {
    const double received = propagated[i].noisy_or(), p = probabilities[i];
    if (received == 0) continue;
    const double raised = score_of(loss, p + received * (1.0 - p));
    top[i].score = std::max(top[i].score, static_cast<float>(raised));  // not lowered by rounding
  }
  std::ranges::sort(top, ranks_before);
}

}  // namespace slide
