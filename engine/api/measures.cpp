#include <slide/measures.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/api/csr_input.h"
#include "engine/api/internals.h"
#include "engine/base/parallel.h"
#include "engine/inference/metrics.h"

namespace slide::api {

namespace {

constexpr std::size_t kRowsAtOnce = 1024;

// What measures are weighted with and grouped by.
struct Training {
  std::vector<std::uint32_t> frequencies;
  Metrics::Propensities propensities;
  Metrics::Groups groups;
};

Training training_of(const ScoreOptions& options, std::size_t labels) {
  Training training;
  if (options.training_labels.offsets.size() == 0) return training;
  CsrMatrix ids = options.training_labels;
  ids.values = nullptr;
  const CsrInput rows = take_csr(ids, {}, nullptr, "training labels");
  training.frequencies.resize(std::max<std::size_t>(labels, rows.feature_count));
  for (const std::uint32_t label : rows.view.feature_ids) ++training.frequencies[label];
  training.propensities = std::make_shared<const InversePropensities>(
      training.frequencies, rows.view.feature_offsets.size() - 1, options.propensity_a, options.propensity_b);
  training.groups = std::make_shared<const LabelGroups>(training.frequencies);
  return training;
}

// The columns of the largest entries of a row, best first.
void rank(const SparseRow& row, std::size_t most, std::vector<std::uint32_t>& places,
          std::vector<std::uint32_t>& labels) {
  places.resize(row.ids.size());
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::uint32_t>(i);
  const auto end = places.begin() + static_cast<std::ptrdiff_t>(std::min(most, places.size()));
  std::partial_sort(places.begin(), end, places.end(), [&](std::uint32_t a, std::uint32_t b) {
    return row.values[a] != row.values[b] ? row.values[a] > row.values[b] : a < b;
  });
  labels.clear();
  for (auto place = places.begin(); place != end; ++place) labels.push_back(row.ids[*place]);
}

Metrics measured(const Dataset& scored, const Metrics& none, std::size_t most) {
  std::vector<Metrics> parts((scored.size() + kRowsAtOnce - 1) / kRowsAtOnce, none);
  parallel_for(parts.size(), available_threads(), [&](std::size_t part, int) {
    std::vector<std::uint32_t> places, labels;
    const std::size_t end = std::min(scored.size(), (part + 1) * kRowsAtOnce);
    for (std::size_t row = part * kRowsAtOnce; row < end; ++row) {
      rank(scored.features(row), most, places, labels);
      parts[part].add(labels, scored.labels(row));
    }
  });
  Metrics all = none;
  for (const Metrics& part : parts) all.merge(part);
  return all;
}

}  // namespace

Measures measures_of(const Metrics& metrics) {
  Measures measures;
  const nlohmann::ordered_json values = metrics.to_json();
  for (const auto& [name, value] : values.items()) measures[name] = value.get<double>();
  return measures;
}

Measures evaluate_scores(const CsrMatrix& scores, const CsrMatrix& labels, const ScoreOptions& options) {
  return guarded([&] {
    if (options.ks.empty() || std::ranges::find(options.ks, 0U) != options.ks.end())
      fail_input("ranks: give one or more, each at least 1");
    const CsrInput input = take_csr(scores, labels, nullptr, "scores");
    const Dataset scored(input.storage, input.view, input.feature_count, input.label_count);
    const Training training = training_of(options, std::max(input.feature_count, input.label_count));
    const Metrics none(options.ks, training.propensities, training.groups);
    const Metrics metrics = measured(scored, none, *std::ranges::max_element(options.ks));
    Measures measures = measures_of(metrics);
    if (!metrics.has_groups()) return measures;
    for (const LabelGroup group : kLabelGroups) {
      for (const std::uint32_t k : options.ks) {
        measures[fmt::format("p_at_{}_{}", k, name_of(group))] = metrics.precision(k, group);
        measures[fmt::format("recall_at_{}_{}", k, name_of(group))] = metrics.recall(k, group);
      }
    }
    return measures;
  });
}

}  // namespace slide::api
