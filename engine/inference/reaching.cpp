#include "engine/inference/reaching.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/number_text.h"

namespace slide {

namespace {

constexpr std::size_t kFirstLabels = 32;  // number of labels predicted at first
constexpr std::size_t kGrowth = 8;

// The given rows of `data`, without labels.
Dataset chosen_rows(const Dataset& data, std::span<const std::uint32_t> rows) {
  DatasetArrays arrays;
  for (const std::uint32_t row : rows) {
    const SparseRow features = data.features(row);
    arrays.feature_ids.insert(arrays.feature_ids.end(), features.ids.begin(), features.ids.end());
    arrays.feature_values.insert(arrays.feature_values.end(), features.values.begin(), features.values.end());
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
  }
  arrays.label_offsets.resize(rows.size() + 1);
  const Dataset chosen(std::move(arrays), data.sparse_count(), data.label_count());
  return data.dense_count() > 0 ? chosen.with_dense(data.dense().chosen(rows)) : chosen;
}

// How many labels to ask for next.
std::size_t next_k(std::size_t k, std::size_t rows, const ReachingLimits& limits) {
  const std::size_t max_k =
      limits.max_scores == 0 ? limits.labels : std::min(limits.labels, limits.max_scores / rows);
  if (max_k <= k && max_k < limits.labels)
    fail_input("threshold: more than {} labels of a sample reach it; raise it, or give k", k);
  return std::min(k * kGrowth, max_k);
}

}  // namespace

bool reaches_written(double score, double threshold) {
  constexpr double kRounding = 1e-5;
  if (!(std::abs(score - threshold) <= kRounding * std::abs(threshold))) return score >= threshold;
  if (six_digits_of(threshold) != threshold)
    return static_cast<float>(score) >= static_cast<float>(threshold);
  return six_digits_of(score) >= threshold;
}

// Answers the rows whose k labels do not all reach the threshold, and asks again for more labels of the
// others; `places` maps these to rows of `data`.
void predict_reaching(const Dataset& data, Predictor::Wanted wanted, const ReachingLimits& limits,
                      const Reaches& reaches, const PredictCall& call, const Predictor::Sink& sink) {
  Dataset rows = data;
  std::vector<std::uint32_t> places;  // of the rows in `data`; empty: all
  wanted.by_score = true;             // the first that does not reach it ends an answer
  wanted.exact = true;                // how many labels reach the threshold is not known before
  wanted.k = std::min(std::max(wanted.k, kFirstLabels), limits.labels);
  if (limits.max_scores != 0 && data.size() > 0)
    wanted.k = std::min(wanted.k, std::max<std::size_t>(limits.max_scores / data.size(), 1));
  while (rows.size() > 0) {
    std::vector<char> has_more(rows.size());  // bytes: threads write neighbours
    call(rows, wanted, [&](std::size_t row, std::span<const Prediction> best) {
      const auto end =
          std::find_if(best.begin(), best.end(), [&](const Prediction& one) { return !reaches(one.score); });
      has_more[row] = end == best.end() && best.size() == wanted.k && wanted.k < limits.labels ? 1 : 0;
      if (has_more[row] == 0)
        sink(places.empty() ? row : places[row], best.first(static_cast<std::size_t>(end - best.begin())));
    });
    std::vector<std::uint32_t> again, again_places;
    for (std::uint32_t row = 0; row < has_more.size(); ++row) {
      if (has_more[row] == 0) continue;
      again.push_back(row);
      again_places.push_back(places.empty() ? row : places[row]);
    }
    if (again.empty()) return;
    wanted.k = next_k(wanted.k, again.size(), limits);
    rows = chosen_rows(rows, again);
    places = std::move(again_places);
  }
}

}  // namespace slide
