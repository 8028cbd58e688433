#include "engine/inference/reliability.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace slide {

namespace {

// Adds a prediction; returns false for a score that is no probability.
bool add_to(Reliability& sums, float score, bool hit) {
  if (!(score >= 0 && score <= 1)) return false;
  const auto at = static_cast<std::size_t>(double{score} * Reliability::kBins);
  Reliability::Bin& bin = sums.bins[std::min(at, Reliability::kBins - 1)];
  ++bin.predictions;
  bin.scores += score;
  bin.hits += hit ? 1 : 0;
  return true;
}

std::optional<Reliability> unless_empty(const Reliability& sums) {
  const bool any = std::ranges::any_of(sums.bins, [](const auto& bin) { return bin.predictions > 0; });
  return any ? std::optional(sums) : std::nullopt;
}

}  // namespace

double Reliability::error() const {
  double sum = 0;
  std::uint64_t predictions = 0;
  for (const Bin& bin : bins) {
    sum += std::abs(bin.scores - static_cast<double>(bin.hits));
    predictions += bin.predictions;
  }
  return predictions == 0 ? 0.0 : sum / static_cast<double>(predictions);
}

std::optional<Reliability> reliability(const Dataset& scores, const Dataset& truth) {
  Reliability sums;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const SparseRow row = scores.features(i);
    for (std::size_t e = 0; e < row.ids.size(); ++e) {
      if (!add_to(sums, row.values[e], std::ranges::binary_search(truth.labels(i), row.ids[e])))
        return std::nullopt;
    }
  }
  return unless_empty(sums);
}

std::optional<Reliability> top_reliability(const Dataset& scores, const Ranking& ranking,
                                           const Dataset& truth) {
  Reliability sums;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (ranking[i].empty()) continue;
    const SparseRow row = scores.features(i);
    const auto at = std::ranges::lower_bound(row.ids, ranking[i].front()) - row.ids.begin();
    const bool hit = std::ranges::binary_search(truth.labels(i), ranking[i].front());
    if (!add_to(sums, row.values[static_cast<std::size_t>(at)], hit)) return std::nullopt;
  }
  return unless_empty(sums);
}

}  // namespace slide
