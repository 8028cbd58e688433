#include "engine/inference/decisions.h"

#include <algorithm>

namespace slide {

namespace {

double quotient(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

void add_to(Rates& sum, const Rates& one) {
  sum.precision += one.precision;
  sum.recall += one.recall;
  sum.f1 += one.f1;
}

Rates divided(const Rates& sum, std::size_t count) {
  const auto by = static_cast<double>(std::max<std::size_t>(count, 1));
  return {sum.precision / by, sum.recall / by, sum.f1 / by};
}

// Adds up samples in their order.
class DecisionSums {
 public:
  DecisionSums(const Dataset& truth, std::size_t labels) : truth_(truth) { sums_.labels.resize(labels); }

  // Counts one sample with the predicted labels `given`.
  void add(std::size_t sample, std::span<const std::uint32_t> given) {
    const auto carried = truth_.labels(sample);
    DecisionCounts own{given.size(), 0, carried.size()};
    for (const std::uint32_t label : carried) ++at(label).positives;
    for (const std::uint32_t label : given) {
      const std::uint64_t hit = std::ranges::binary_search(carried, label) ? 1 : 0;
      own.hits += hit;
      ++at(label).predicted;
      at(label).hits += hit;
    }
    add_to(sums_.samples, own.rates());
  }

  // Turns the sums into means: over labels that occur (macro), over samples, and rates of the pooled counts
  // (micro).
  Decisions take() {
    DecisionCounts all;
    std::size_t occurring = 0;  // labels that are true or given somewhere
    for (const DecisionCounts& one : sums_.labels) {
      if (one.predicted + one.positives == 0) continue;
      ++occurring;
      add_to(sums_.macro, one.rates());
      all.predicted += one.predicted;
      all.hits += one.hits;
      all.positives += one.positives;
    }
    sums_.micro = all.rates();
    sums_.macro = divided(sums_.macro, occurring);
    sums_.samples = divided(sums_.samples, truth_.size());
    return std::move(sums_);
  }

 private:
  DecisionCounts& at(std::uint32_t label) {
    if (label >= sums_.labels.size()) sums_.labels.resize(std::size_t{label} + 1);
    return sums_.labels[label];
  }

  const Dataset& truth_;
  Decisions sums_;
};

// The labels of a sample that reach their thresholds.
void list_reached(const SparseRow& row, const Thresholds& thresholds, std::vector<std::uint32_t>& given) {
  given.clear();
  for (std::size_t e = 0; e < row.ids.size(); ++e) {
    if (reaches_float(row.values[e], thresholds.of(row.ids[e]))) given.push_back(row.ids[e]);
  }
}

}  // namespace

Rates DecisionCounts::rates() const {
  return {quotient(hits, predicted), quotient(hits, positives), 2 * quotient(hits, predicted + positives)};
}

DecisionCounts decided(const Dataset& scores, const Dataset& truth, std::size_t sample,
                       const Thresholds& thresholds) {
  std::vector<std::uint32_t> given;
  list_reached(scores.features(sample), thresholds, given);
  const auto carried = truth.labels(sample);
  DecisionCounts counts{given.size(), 0, carried.size()};
  for (const std::uint32_t label : given) counts.hits += std::ranges::binary_search(carried, label) ? 1 : 0;
  return counts;
}

Decisions decide(const Dataset& scores, const Dataset& truth, const Thresholds& thresholds) {
  DecisionSums sums(truth, std::max(scores.feature_count(), truth.label_count()));
  std::vector<std::uint32_t> given;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    list_reached(scores.features(i), thresholds, given);
    sums.add(i, given);
  }
  return sums.take();
}

Decisions decide_best(const Ranking& ranking, const Dataset& truth, std::uint32_t k, std::size_t labels) {
  DecisionSums sums(truth, labels);
  for (std::size_t i = 0; i < truth.size(); ++i)
    sums.add(i, ranking[i].first(std::min<std::size_t>(k, ranking[i].size())));
  return sums.take();
}

}  // namespace slide
