#include "engine/inference/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/base/error.h"

namespace slide {
namespace {

constexpr double kMaxInverse = 1e200;  // of a propensity, so that sums are finite

// DCG discount of a hit at `rank`, counted from 0.
double discount(std::size_t rank) {
  return 1.0 / std::log2(static_cast<double>(rank) + 2.0);
}

// part / whole, at most 1: the same numbers in another order can have a larger sum.
double share(double part, double whole) {
  return whole == 0 ? 0.0 : std::min(part / whole, 1.0);
}

double ideal_dcg(std::size_t hits) {
  double sum = 0;
  for (std::size_t rank = 0; rank < hits; ++rank) sum += discount(rank);
  return sum;
}

}  // namespace

// Formula in metrics.h. Tabulated by label or by frequency, whichever takes fewer values.
InversePropensities::InversePropensities(std::span<const std::uint32_t> label_frequencies,
                                         std::size_t samples, double a, double b)
    : frequencies_(label_frequencies) {
  if (!(a >= 0) || !(b > 0)) fail_input("propensities need A >= 0 and B > 0, not A = {}, B = {}", a, b);
  const double log_samples = std::log(static_cast<double>(std::max<std::size_t>(samples, 1)));
  const double c = std::max(0.0, log_samples - 1.0) * std::pow(b + 1.0, a);
  if (!(c < kMaxInverse))
    fail_input("propensities of A = {} and B = {} are too small to be numbers; published are .55 and 1.5", a,
               b);
  const auto value = [&](std::size_t frequency) {
    return 1.0 + c * std::exp(-a * std::log(static_cast<double>(frequency) + b));
  };
  if (label_frequencies.empty()) return;
  const std::size_t values = std::size_t{std::ranges::max(label_frequencies)} + 1;
  if (values > label_frequencies.size()) {
    std::ranges::transform(label_frequencies, std::back_inserter(values_), value);
    frequencies_ = {};
  } else {
    for (std::size_t frequency = 0; frequency < values; ++frequency) values_.push_back(value(frequency));
  }
  beyond_ = value(0);
}

const char* name_of(LabelGroup group) {
  constexpr std::array<const char*, 3> kNames = {"head", "middle", "tail"};
  return kNames[std::size_t(group)];
}

// Head, middle and tail: labels by falling frequency, divided where a third and two thirds of all (sample,
// label) pairs are reached. Labels of equal frequency are in one group.
LabelGroups::LabelGroups(std::span<const std::uint32_t> label_frequencies)
    : groups_(label_frequencies.size(), LabelGroup::kTail) {
  std::vector<std::uint32_t> order(label_frequencies.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](std::uint32_t label) { return label_frequencies[label]; });
  std::uint64_t total = 0;
  for (const std::uint32_t frequency : label_frequencies) total += frequency;
  std::uint64_t passed = 0, before = 0;  // pairs of the labels so far; of labels of higher frequency
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t frequency = label_frequencies[order[i]];
    if (i == 0 || frequency != label_frequencies[order[i - 1]]) before = passed;
    passed += frequency;
    const LabelGroup group = frequency == 0 || before * 3 >= total * 2 ? LabelGroup::kTail
                             : before * 3 >= total                     ? LabelGroup::kMiddle
                                                                       : LabelGroup::kHead;
    groups_[order[i]] = group;
    Part& part = parts_[std::size_t(group)];
    if (part.labels++ == 0) part.max_samples = frequency;
    part.min_samples = frequency;
  }
}

Metrics::Metrics(std::vector<std::uint32_t> ks, Propensities inverse_propensities, Groups groups)
    : ks_(std::move(ks)),
      inverse_(inverse_propensities && inverse_propensities->size() > 0 ? std::move(inverse_propensities)
                                                                        : nullptr),
      groups_(std::move(groups)),
      sums_(ks_.size()) {
  for (const std::uint32_t k : ks_) {
    if (k == 0) throw Error("metrics: k must be at least 1");
    largest_k_ = std::max(largest_k_, k);
  }
}

// Sets is_hit_ by rank once, then adds the sample to the sums of each k.
void Metrics::add(std::span<const std::uint32_t> predicted_ranked,
                  std::span<const std::uint32_t> true_labels_sorted) {
  ++samples_;
  if (true_labels_sorted.empty()) return;
  if (groups_) {
    for (const std::uint32_t label : true_labels_sorted) ++positives_[std::size_t(groups_->of(label))];
  }
  const auto predicted = predicted_ranked.first(std::min<std::size_t>(predicted_ranked.size(), largest_k_));
  is_hit_.resize(predicted.size());
  for (std::size_t rank = 0; rank < predicted.size(); ++rank) {
    is_hit_[rank] = std::ranges::binary_search(true_labels_sorted, predicted[rank]);
  }
  if (has_psp()) sort_best_weights(true_labels_sorted);
  for (std::size_t i = 0; i < ks_.size(); ++i)
    add_hits(sums_[i], ks_[i], predicted, true_labels_sorted.size());
}

// Adds one sample to the sums of one k. `labels`: number of its true labels. Weights are inverse
// propensities; best_ has those of the true labels, largest first, which the ideal ranking has.
void Metrics::add_hits(Sums& sums, std::uint32_t k, std::span<const std::uint32_t> predicted,
                       std::size_t labels) const {
  std::uint64_t hits = 0;
  double dcg = 0, weighted_dcg = 0;
  for (std::size_t rank = 0; rank < std::min<std::size_t>(k, predicted.size()); ++rank) {
    if (!is_hit_[rank]) continue;
    if (hits++ == 0) sums.reciprocal += 1.0 / (static_cast<double>(rank) + 1.0);
    dcg += discount(rank);
    if (groups_) ++sums.group_hits[std::size_t(groups_->of(predicted[rank]))];
    if (!has_psp()) continue;
    sums.weighted_hits += weight(predicted[rank]);
    weighted_dcg += weight(predicted[rank]) * discount(rank);
  }
  const double ideal = ideal_dcg(std::min<std::size_t>(k, labels));
  sums.hits += hits;
  sums.hit += hits > 0 ? 1 : 0;
  sums.ndcg += dcg / ideal;
  sums.recall += static_cast<double>(hits) / static_cast<double>(labels);
  if (!has_psp()) return;
  const auto best = std::span(best_).first(std::min<std::size_t>(k, best_.size()));
  sums.weighted_best += std::accumulate(best.begin(), best.end(), 0.0);
  double best_dcg = 0;
  for (std::size_t rank = 0; rank < best.size(); ++rank) best_dcg += best[rank] * discount(rank);
  sums.weighted_ndcg += weighted_dcg / ideal;
  sums.weighted_best_ndcg += best_dcg / ideal;
}

void Metrics::sort_best_weights(std::span<const std::uint32_t> labels) {
  best_.resize(labels.size());
  std::ranges::transform(labels, best_.begin(), [&](std::uint32_t label) { return weight(label); });
  const std::size_t kept = std::min<std::size_t>(labels.size(), largest_k_);
  std::partial_sort(best_.begin(), best_.begin() + static_cast<std::ptrdiff_t>(kept), best_.end(),
                    std::greater<>());
  best_.resize(kept);
}

void Metrics::merge(const Metrics& other) {
  if (ks_ != other.ks_ || has_psp() != other.has_psp() || has_groups() != other.has_groups())
    throw Error("metrics of different kinds cannot be merged");
  samples_ += other.samples_;
  for (std::size_t g = 0; g < positives_.size(); ++g) positives_[g] += other.positives_[g];
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    sums_[i].hits += other.sums_[i].hits;
    sums_[i].ndcg += other.sums_[i].ndcg;
    sums_[i].recall += other.sums_[i].recall;
    sums_[i].hit += other.sums_[i].hit;
    sums_[i].reciprocal += other.sums_[i].reciprocal;
    sums_[i].weighted_hits += other.sums_[i].weighted_hits;
    sums_[i].weighted_best += other.sums_[i].weighted_best;
    sums_[i].weighted_ndcg += other.sums_[i].weighted_ndcg;
    sums_[i].weighted_best_ndcg += other.sums_[i].weighted_best_ndcg;
    for (std::size_t g = 0; g < positives_.size(); ++g)
      sums_[i].group_hits[g] += other.sums_[i].group_hits[g];
  }
}

double Metrics::weight(std::uint32_t label) const {
  return (*inverse_)[label];
}

const Metrics::Sums& Metrics::sums_of(std::uint32_t k) const {
  const auto found = std::ranges::find(ks_, k);
  if (found == ks_.end()) fail_run("metrics: k = {} was not measured", k);
  return sums_[static_cast<std::size_t>(found - ks_.begin())];
}

double Metrics::precision(std::uint32_t k) const {
  return mean(static_cast<double>(sums_of(k).hits)) / k;
}
double Metrics::ndcg(std::uint32_t k) const {
  return mean(sums_of(k).ndcg);
}
double Metrics::recall(std::uint32_t k) const {
  return mean(sums_of(k).recall);
}

double Metrics::hit_rate(std::uint32_t k) const {
  return mean(static_cast<double>(sums_of(k).hit));
}
double Metrics::mrr(std::uint32_t k) const {
  return mean(sums_of(k).reciprocal);
}

double Metrics::psp(std::uint32_t k) const {
  const Sums& sums = sums_of(k);
  return share(sums.weighted_hits, sums.weighted_best);
}

double Metrics::psndcg(std::uint32_t k) const {
  const Sums& sums = sums_of(k);
  return share(sums.weighted_ndcg, sums.weighted_best_ndcg);
}

double Metrics::recall(std::uint32_t k, LabelGroup group) const {
  const std::uint64_t all = positives(group);
  return all == 0 ? 0.0
                  : static_cast<double>(sums_of(k).group_hits[std::size_t(group)]) / static_cast<double>(all);
}

double Metrics::precision(std::uint32_t k, LabelGroup group) const {
  return mean(static_cast<double>(sums_of(k).group_hits[std::size_t(group)])) / k;
}

nlohmann::ordered_json Metrics::to_json() const {
  nlohmann::ordered_json json;
  for (const auto k : ks_) json[fmt::format("p_at_{}", k)] = precision(k);
  for (const auto k : ks_) json[fmt::format("ndcg_at_{}", k)] = ndcg(k);
  for (const auto k : ks_) {
    if (has_psp()) json[fmt::format("psp_at_{}", k)] = psp(k);
  }
  for (const auto k : ks_) {
    if (has_psp()) json[fmt::format("psndcg_at_{}", k)] = psndcg(k);
  }
  for (const auto k : ks_) json[fmt::format("recall_at_{}", k)] = recall(k);
  if (!first_hits_) return json;
  for (const auto k : ks_) json[fmt::format("hit_rate_at_{}", k)] = hit_rate(k);
  for (const auto k : ks_) json[fmt::format("mrr_at_{}", k)] = mrr(k);
  return json;
}

nlohmann::ordered_json Metrics::groups_to_json() const {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!has_groups()) return json;
  for (const LabelGroup group : kLabelGroups) {
    for (const auto k : ks_) {
      json[fmt::format("p_at_{}_{}", k, name_of(group))] = precision(k, group);
      json[fmt::format("recall_at_{}_{}", k, name_of(group))] = recall(k, group);
    }
  }
  return json;
}

std::vector<std::string> Metrics::names() const {
  std::vector<std::string> names;
  const nlohmann::ordered_json json = to_json();
  for (const auto& [name, value] : json.items()) names.push_back(name);
  return names;
}

// Numerator and denominator of each metric, in the order of names().
void Metrics::append_ratios(std::vector<Ratio>& ratios) const {
  const auto samples = static_cast<double>(samples_);
  for (std::size_t i = 0; i < ks_.size(); ++i)
    ratios.push_back({static_cast<double>(sums_[i].hits) / ks_[i], samples});
  for (const Sums& sums : sums_) ratios.push_back({sums.ndcg, samples});
  if (has_psp()) {
    for (const Sums& sums : sums_) ratios.push_back({sums.weighted_hits, sums.weighted_best});
    for (const Sums& sums : sums_) ratios.push_back({sums.weighted_ndcg, sums.weighted_best_ndcg});
  }
  for (const Sums& sums : sums_) ratios.push_back({sums.recall, samples});
  if (!first_hits_) return;
  for (const Sums& sums : sums_) ratios.push_back({static_cast<double>(sums.hit), samples});
  for (const Sums& sums : sums_) ratios.push_back({sums.reciprocal, samples});
}

}  // namespace slide
