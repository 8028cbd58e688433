#include "engine/inference/curve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>

#include "engine/base/number_text.h"

namespace slide {

namespace {

struct Scored {
  std::uint32_t label = 0;
  float score = 0;
  bool hit = false;
};

// All scores, highest first.
std::vector<Scored> descending_scores(const Dataset& scores, const Dataset& truth) {
  std::vector<Scored> all;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const SparseRow row = scores.features(i);
    for (std::size_t e = 0; e < row.ids.size(); ++e)
      all.push_back({row.ids[e], row.values[e], std::ranges::binary_search(truth.labels(i), row.ids[e])});
  }
  std::ranges::sort(all, std::greater<>(), &Scored::score);
  return all;
}

// Calls take() with a point of the curve for each distinct score. `descending`: scores in descending order.
template <class Take>
void for_each_point(std::span<const Scored> descending, std::uint64_t positives, const Take& take) {
  DecisionCounts counts{0, 0, positives};
  for (std::size_t e = 0; e < descending.size(); ++e) {
    ++counts.predicted;
    counts.hits += descending[e].hit ? 1 : 0;
    if (e + 1 == descending.size() || descending[e + 1].score != descending[e].score)
      take(CurvePoint{descending[e].score, counts});
  }
}

// The threshold that keeps `score` and leaves out the next score `lower`: their middle, or score - 0.5
// |score| without `lower`. It has six digits, and scores may differ a little or be written with six digits.
// Returns `score` itself where the two lie too close for that.
float threshold_between(float score, std::optional<float> lower) {
  const double above = score, below = lower ? double{*lower} : above - std::abs(above);
  const auto middle = static_cast<float>(six_digits_of(below + (above - below) / 2));
  if ((middle != 0 && !std::isnormal(middle)) || middle > score) return score;
  return !lower || (middle > *lower && six_digits_of(below) < decimal_of(middle)) ? middle : score;
}

// The threshold of the highest F1; with a goal, the lowest one that reaches goal.precision. It lies between
// two scores, so that rounding cannot change what reaches it. Without any, a threshold above all scores.
BestThreshold best_of(std::span<const Scored> descending, std::uint64_t positives,
                      const ThresholdGoal& goal) {
  if (descending.empty()) return {std::numeric_limits<float>::infinity(), {}};
  BestThreshold best{threshold_above(descending.front().score), {}};
  bool found = false;
  for_each_point(descending, positives, [&](const CurvePoint& point) {
    const Rates rates = point.counts.rates();
    if (goal.precision ? rates.precision < *goal.precision : found && rates.f1 <= best.rates.f1) return;
    best = {point.threshold, rates};
    found = true;
  });
  if (!found) return best;
  const auto next = std::ranges::upper_bound(descending, best.threshold, std::greater<>(), &Scored::score);
  best.threshold =
      threshold_between(best.threshold, next == descending.end() ? std::nullopt : std::optional(next->score));
  return best;
}

}  // namespace

float threshold_above(float score) {
  constexpr float kShare = 0.01F, kMinMargin = 1e-4F;
  return static_cast<float>(six_digits_of(score + std::max(kShare * std::fabs(score), kMinMargin)));
}

std::vector<CurvePoint> precision_recall_curve(const Dataset& scores, const Dataset& truth) {
  std::vector<CurvePoint> curve;
  for_each_point(descending_scores(scores, truth), truth.label_entries(),
                 [&](const CurvePoint& point) { curve.push_back(point); });
  return curve;
}

BestThreshold best_threshold(const Dataset& scores, const Dataset& truth, const ThresholdGoal& goal) {
  return best_of(descending_scores(scores, truth), truth.label_entries(), goal);
}

// The best threshold of all scores together, then one for each label with enough samples.
Thresholds best_thresholds(const Dataset& scores, const Dataset& truth, const ThresholdGoal& goal) {
  std::vector<Scored> by_label = descending_scores(scores, truth);
  const double all = decimal_of(best_of(by_label, truth.label_entries(), goal).threshold);
  if (goal.label_samples == 0) return Thresholds(all);
  std::ranges::stable_sort(by_label, {}, &Scored::label);  // falling within each label
  const std::vector<std::uint32_t> positives = truth.label_frequencies();
  std::vector<LabelThreshold> own;
  for (auto begin = by_label.begin(); begin != by_label.end();) {
    const std::uint32_t label = begin->label;
    const auto end =
        std::find_if(begin, by_label.end(), [&](const Scored& one) { return one.label != label; });
    if (label < positives.size() && positives[label] >= goal.label_samples)
      own.push_back({label, decimal_of(best_of({begin, end}, positives[label], goal).threshold)});
    begin = end;
  }
  return Thresholds(all, std::move(own));
}

}  // namespace slide
