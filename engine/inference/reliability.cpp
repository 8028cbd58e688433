#include "engine/inference/reliability.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace slide {

namespace {

std::optional<Reliability> unless_empty(const Reliability& sums) {
  return sums.predictions() > 0 ? std::optional(sums) : std::nullopt;
}

}  // namespace

bool Reliability::add(float score, bool hit) {
  if (!(score >= 0 && score <= 1)) return false;
  const auto at = static_cast<std::size_t>(double{score} * kBins);
  Bin& bin = bins[std::min(at, kBins - 1)];
  ++bin.predictions;
  bin.scores += score;
  bin.hits += hit ? 1 : 0;
  return true;
}

std::uint64_t Reliability::predictions() const {
  std::uint64_t sum = 0;
  for (const Bin& bin : bins) sum += bin.predictions;
  return sum;
}

double Reliability::error() const {
  double sum = 0;
  for (const Bin& bin : bins) sum += std::abs(bin.scores - static_cast<double>(bin.hits));
  return predictions() == 0 ? 0.0 : sum / static_cast<double>(predictions());
}

std::optional<Reliability> reliability(const Dataset& scores, const Dataset& truth) {
  Reliability sums;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const SparseRow row = scores.features(i);
    for (std::size_t e = 0; e < row.ids.size(); ++e) {
      if (!sums.add(row.values[e], std::ranges::binary_search(truth.labels(i), row.ids[e])))
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
    if (!sums.add(row.values[static_cast<std::size_t>(at)], hit)) return std::nullopt;
  }
  return unless_empty(sums);
}

}  // namespace slide
