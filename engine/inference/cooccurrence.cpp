#include "engine/inference/cooccurrence.h"

#include <array>
#include <utility>

#include "engine/inference/probability.h"

namespace slide {

namespace {

constexpr std::size_t kMaxPropagating = 3;  // propagating labels per receiving label

// The largest propagated probabilities of one label, descending.
struct Lent {
  std::array<double, kMaxPropagating> largest{};

  void add(double amount) {
    for (double& one : largest)
      if (amount > one) std::swap(amount, one);
  }
  // Noisy-or of the propagated probabilities.
  double taken() const {
    double left = 1.0;
    for (const double one : largest) left *= 1.0 - one;
    return 1.0 - left;
  }
};

}  // namespace

const Neighbours* knn_with_cooccurrence(const Neighbours* neighbours) {
  if (neighbours == nullptr || neighbours->cooccurrence_share() == 0) return nullptr;
  neighbours->cooccurrence();  // computed now, not at the first sample
  return neighbours;
}

void propagate_cooccurrence(const Neighbours& cooccurrence_knn, LossKind loss, std::span<Prediction> best) {
  const auto some = best.first(std::min(best.size(), kPropagatingLabels));
  const LabelCooccurrence& cooccurrence = cooccurrence_knn.cooccurrence();
  std::array<double, kPropagatingLabels> probabilities;
  std::array<Lent, kPropagatingLabels> lent;
  for (std::size_t i = 0; i < some.size(); ++i) probabilities[i] = probability_of(loss, some[i].score);
  for (std::size_t i = 0; i < some.size(); ++i) {
    const double share = cooccurrence_knn.cooccurrence_share() * probabilities[i];
    for (const auto& [label, probability] : cooccurrence.of(some[i].label)) {
      const auto at = std::ranges::find(some, label, &Prediction::label);
      if (at != some.end()) lent[static_cast<std::size_t>(at - some.begin())].add(share * probability);
    }
  }
  for (std::size_t i = 0; i < some.size(); ++i) {
    const double taken = lent[i].taken(), p = probabilities[i];
    if (taken == 0) continue;
    const double raised = score_of(loss, p + taken * (1.0 - p));
    some[i].score = std::max(some[i].score, static_cast<float>(raised));  // not lowered by rounding
  }
  std::ranges::sort(some, ranks_before);
}

}  // namespace slide
