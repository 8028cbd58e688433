#include <slide/measures.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/api/arguments.h"
#include "engine/api/csr_input.h"
#include "engine/api/internals.h"
#include "engine/base/error.h"
#include "engine/inference/curve.h"
#include "engine/inference/decisions.h"
#include "engine/inference/label_counts.h"
#include "engine/inference/metrics.h"
#include "engine/inference/ranking.h"
#include "engine/inference/reliability.h"
#include "engine/inference/thresholds.h"

namespace slide::api {

namespace {

// Propensities and label groups from training labels.
struct Training {
  std::vector<std::uint32_t> frequencies;
  Metrics::Propensities propensities;
  Metrics::Groups groups;
};

// What metrics need of the training labels: frequencies, propensities, frequency groups. Empty without these
// labels.
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

void add_rates(const std::string& suffix, const Decisions& decisions, Measures& measures) {
  for_each_rate(decisions, [&](const std::string& name, double value) { measures[name + suffix] = value; });
}

}  // namespace

std::optional<Reliability> summary_of(const slide::Reliability& all, const slide::Reliability& top) {
  if (all.predictions() == 0) return std::nullopt;
  const auto bins_of = [](const slide::Reliability& reliability) {
    std::vector<Reliability::Bin> bins;
    for (const slide::Reliability::Bin& bin : reliability.bins) {
      if (bin.predictions > 0) bins.push_back({bin.predictions, bin.mean_score(), bin.true_share()});
    }
    return bins;
  };
  return Reliability{all.error(), bins_of(all), top.error(), bins_of(top)};
}

Measures measures_of(const Metrics& metrics) {
  Measures measures;
  const nlohmann::ordered_json values = metrics.to_json();
  for (const auto& [name, value] : values.items()) measures[name] = value.get<double>();
  return measures;
}

// One data set holds both matrices: scores as its features, true labels as its labels.
Measures evaluate_scores(const CsrMatrix& scores, const CsrMatrix& labels, const ScoreOptions& options,
                         std::optional<Reliability>* reliability) {
  return guarded([&] {
    const CsrInput input = take_csr(scores, labels, nullptr, "scores");
    check_ks(options.ks, input.feature_count);
    const Dataset scored(input.storage, input.view, input.feature_count, input.label_count);
    if (options.threshold && std::isnan(*options.threshold)) fail_input("threshold: give a number");
    const std::size_t all = std::max(input.feature_count, input.label_count);
    const Training training = training_of(options, all);
    const Metrics none(options.ks, training.propensities, training.groups);
    const Ranking ranking = ranked(scored, *std::ranges::max_element(options.ks), 0);
    const Metrics metrics = measured(ranking, scored, none);
    Measures measures = measures_of(metrics);
    const nlohmann::ordered_json by_group = metrics.groups_to_json();
    for (const auto& [name, value] : by_group.items()) measures[name] = value.get<double>();
    for_each_coverage(LabelCounts(ranking, scored, options.ks, all), {},
                      [&](const std::string& name, double value) { measures[name] = value; });
    for (const std::uint32_t k : options.ks)
      add_rates("_at_" + std::to_string(k), decide_best(ranking, scored, k, all), measures);
    if (reliability != nullptr) {
      const auto every = slide::reliability(scored, scored), top = top_reliability(scored, ranking, scored);
      *reliability = every && top ? summary_of(*every, *top) : std::nullopt;
    }
    if (options.threshold) add_rates("", decide(scored, scored, Thresholds(*options.threshold)), measures);
    return measures;
  });
}

BestThreshold best_threshold(const CsrMatrix& scores, const CsrMatrix& labels) {
  return guarded([&] {
    const CsrInput input = take_csr(scores, labels, nullptr, "scores");
    const Dataset both(input.storage, input.view, input.feature_count, input.label_count);
    const slide::BestThreshold best = slide::best_threshold(both, both);
    return BestThreshold{best.threshold, best.rates.f1};
  });
}

}  // namespace slide::api
