#include "engine/inference/f1.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace slide {

namespace {

double f1_of(std::uint64_t hits, std::uint64_t predicted, std::uint64_t positives) {
  const std::uint64_t both = predicted + positives;
  return both == 0 ? 0.0 : 2.0 * static_cast<double>(hits) / static_cast<double>(both);
}

struct Counts {
  std::uint64_t hits = 0, predicted = 0, positives = 0;
};

std::vector<Counts> counts_by_label(const Dataset& scores, const Dataset& truth, float threshold) {
  std::vector<Counts> counts(std::max(scores.feature_count(), truth.label_count()));
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const auto carried = truth.labels(i);
    for (const std::uint32_t label : carried) ++counts[label].positives;
    const SparseRow row = scores.features(i);
    for (std::size_t e = 0; e < row.ids.size(); ++e) {
      if (row.values[e] < threshold) continue;
      ++counts[row.ids[e]].predicted;
      counts[row.ids[e]].hits += std::ranges::binary_search(carried, row.ids[e]) ? 1 : 0;
    }
  }
  return counts;
}

}  // namespace

Reached reached(const Dataset& scores, const Dataset& truth, std::size_t sample, float threshold) {
  Reached found;
  const SparseRow row = scores.features(sample);
  for (std::size_t e = 0; e < row.ids.size(); ++e) {
    if (row.values[e] < threshold) continue;
    ++found.predicted;
    found.hits += std::ranges::binary_search(truth.labels(sample), row.ids[e]) ? 1 : 0;
  }
  return found;
}

F1 f1_at(const Dataset& scores, const Dataset& truth, float threshold) {
  F1 f1;
  Counts all;
  std::size_t met = 0;
  for (const Counts& one : counts_by_label(scores, truth, threshold)) {
    if (one.predicted + one.positives == 0) continue;
    ++met;
    f1.macro += f1_of(one.hits, one.predicted, one.positives);
    all.hits += one.hits;
    all.predicted += one.predicted;
    all.positives += one.positives;
  }
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const Reached found = reached(scores, truth, i, threshold);
    f1.samples += f1_of(found.hits, found.predicted, truth.labels(i).size());
  }
  f1.micro = f1_of(all.hits, all.predicted, all.positives);
  f1.macro /= static_cast<double>(std::max<std::size_t>(met, 1));
  f1.samples /= static_cast<double>(std::max<std::size_t>(truth.size(), 1));
  return f1;
}

BestThreshold best_threshold(const Dataset& scores, const Dataset& truth) {
  std::vector<std::pair<float, bool>> entries;  // score, hit
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const SparseRow row = scores.features(i);
    for (std::size_t e = 0; e < row.ids.size(); ++e)
      entries.emplace_back(row.values[e], std::ranges::binary_search(truth.labels(i), row.ids[e]));
  }
  std::ranges::sort(entries, std::greater<>());
  BestThreshold best{std::numeric_limits<float>::infinity(), -1};
  std::uint64_t hits = 0;
  for (std::size_t e = 0; e < entries.size(); ++e) {
    hits += entries[e].second ? 1 : 0;
    if (e + 1 < entries.size() && entries[e + 1].first == entries[e].first) continue;
    const double f1 = f1_of(hits, e + 1, truth.label_entries());
    if (f1 > best.f1_micro) best = {entries[e].first, f1};
  }
  best.f1_micro = std::max(best.f1_micro, 0.0);
  return best;
}

}  // namespace slide
