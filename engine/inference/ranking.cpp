#include "engine/inference/ranking.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::size_t kRowsAtOnce = 1024;

// Indices of the largest entries of a row, best first.
void rank_places(const SparseRow& row, std::size_t limit, std::vector<std::uint32_t>& places) {
  places.resize(row.ids.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::uint32_t>(i);
  const std::size_t kept = std::min(limit, places.size());
  std::partial_sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(kept), places.end(),
                    [&](std::uint32_t a, std::uint32_t b) {
                      return row.values[a] != row.values[b] ? row.values[a] > row.values[b] : a < b;
                    });
  places.resize(kept);
}

// Builds a data set of score rows without true labels.
Dataset scores_of(DatasetArrays arrays, std::uint32_t labels) {
  arrays.label_offsets = std::vector<std::uint64_t>(arrays.feature_offsets.size());
  return {std::move(arrays), labels, labels};
}

}  // namespace

Ranking ranked(const Dataset& scores, std::size_t limit, int threads) {
  Ranking ranking(scores.size(), limit);
  const std::size_t parts = (scores.size() + kRowsAtOnce - 1) / kRowsAtOnce;
  parallel_for(parts, resolve_threads(threads), [&](std::size_t part, int) {
    std::vector<std::uint32_t> places;
    const std::size_t end = std::min(scores.size(), (part + 1) * kRowsAtOnce);
    for (std::size_t sample = part * kRowsAtOnce; sample < end; ++sample) {
      const SparseRow row = scores.features(sample);
      rank_places(row, limit, places);
      for (const std::uint32_t place : places) ranking.add(sample, row.ids[place]);
    }
  });
  return ranking;
}

// Ranks by score; equal scores by order[entry], entries counted over all rows.
Ranking ranked_in_order(const Dataset& scores, const std::vector<std::uint32_t>& order, std::size_t limit,
                        int threads) {
  if (order.empty()) return ranked(scores, limit, threads);
  Ranking ranking(scores.size(), limit);
  std::vector<std::uint32_t> places;
  std::size_t first = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const SparseRow row = scores.features(i);
    places.resize(row.ids.size());
    std::iota(places.begin(), places.end(), 0U);
    std::ranges::sort(places, [&](std::uint32_t a, std::uint32_t b) {
      return row.values[a] != row.values[b] ? row.values[a] > row.values[b]
                                            : order[first + a] < order[first + b];
    });
    for (const std::uint32_t place : places) ranking.add(i, row.ids[place]);
    first += row.ids.size();
  }
  return ranking;
}

Metrics measured(const Ranking& ranking, const Dataset& truth, Metrics empty) {
  if (ranking.size() != truth.size()) throw Error("a ranking of other samples than the labels");
  for (std::size_t i = 0; i < truth.size(); ++i) empty.add(ranking[i], truth.labels(i));
  return empty;
}

Dataset scores_without(const Dataset& scores, const LabelPairs& pairs) {
  DatasetArrays kept;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const SparseRow row = scores.features(i);
    for (std::size_t e = 0; e < row.ids.size(); ++e) {
      if (pairs.has(i, row.ids[e])) continue;
      kept.feature_ids.push_back(row.ids[e]);
      kept.feature_values.push_back(row.values[e]);
    }
    kept.feature_offsets.push_back(kept.feature_ids.size());
  }
  return scores_of(std::move(kept), scores.feature_count());
}

// Adds the weighted scores of each label over all data sets; a label without a score counts as 0.
Dataset weighted_sum(std::span<const Dataset> scores, std::span<const double> weights) {
  DatasetArrays sums;
  std::uint32_t labels = 0;
  std::vector<std::pair<std::uint32_t, double>> row;
  for (const Dataset& one : scores) {
    labels = std::max(labels, one.feature_count());
    if (one.size() != scores.front().size()) throw Error("scores of different numbers of samples");
  }
  for (std::size_t i = 0; i < scores.front().size(); ++i) {
    row.clear();
    for (std::size_t f = 0; f < scores.size(); ++f) {
      const SparseRow part = scores[f].features(i);
      for (std::size_t e = 0; e < part.ids.size(); ++e)
        row.emplace_back(part.ids[e], weights[f] * double{part.values[e]});
    }
    std::ranges::stable_sort(row, {}, [](const auto& entry) { return entry.first; });
    for (std::size_t e = 0; e < row.size();) {
      const std::uint32_t label = row[e].first;
      double sum = 0;
      for (; e < row.size() && row[e].first == label; ++e) sum += row[e].second;
      if (!(std::abs(sum) <= std::numeric_limits<float>::max()))
        fail_input("the weighted sum of the scores of label {} is no finite float; scale the weights", label);
      sums.feature_ids.push_back(label);
      sums.feature_values.push_back(static_cast<float>(sum));
    }
    sums.feature_offsets.push_back(sums.feature_ids.size());
  }
  return scores_of(std::move(sums), labels);
}

}  // namespace slide
