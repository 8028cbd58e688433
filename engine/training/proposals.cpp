#include "engine/training/proposals.h"

#include <algorithm>
#include <utility>

namespace slide {

namespace {

constexpr std::size_t kFewSamples = 20000;
constexpr double kFewFeatures = 15.0, kManyLabels = 10.0, kAboutOneLabel = 1.5;

// A proposal with its distance from the traits of the data: 0 for data that it was found on, else 2; 1 more
// puts a proposal behind others. The nearest come first.
struct Ranked {
  int distance;
  Proposal proposal;
};

// Found by searches on the training files of the sets of configs/ (configs/experiments/tuning.md).
std::vector<Ranked> ranked_for(const DataTraits& traits) {
  const bool few = traits.samples < kFewSamples;
  const bool short_rows = traits.features < kFewFeatures;
  const bool many_labels = traits.labels > kManyLabels, one_label = traits.labels < kAboutOneLabel;
  const auto far = [](bool suits, int more = 0) { return (suits ? 0 : 2) + more; };
  return {
      {far(few && many_labels),
       {"few samples of many labels, wider",
        {"data.crosses=32", "layer.0.size=512", "optimizer.epsilon=0.001", "layer.-1.wide_features=128",
         "layer.-1.wide_fit=0.75", "layer.-1.wide_rate=0.3", "layer.-1.wide_negatives=0", "train.epochs=3"}}},
      {far(few && many_labels),
       {"few samples of many labels",
        {"layer.0.dropout=0.2", "layer.-1.wide_fit=1.0", "layer.-1.wide_rate=0.3",
         "layer.-1.wide_negatives=0", "train.epochs=3"}}},
      {far(few && !many_labels),
       {"few samples",
        {"data.idf_power=1.0", "layer.-1.wide_fit=0.75", "optimizer.learning_rate=0.05", "train.epochs=4"}}},
      {far(!few),
       {"many samples, more pairs, wider",
        {"data.crosses=32", "layer.0.size=256", "optimizer.epsilon=0.001", "train.epochs=6"}}},
      {far(!few), {"many samples, longer and wider", {"layer.0.size=256", "train.epochs=12"}}},
      {far(!few && !short_rows),
       {"many samples, slower and wider",
        {"layer.0.size=256", "layer.0.dropout=0.2", "layer.-1.uniform=2048", "layer.-1.wide_fit=0.75",
         "train.epochs=8"}}},
      {far(!few, 1),
       {"many samples, gentle steps",
        {"optimizer.learning_rate=0.02", "layer.0.dropout=0.4", "data.idf_power=0.5"}}},
      {far(!few && short_rows),
       {"many samples of few features",
        {"layer.0.size=256", "optimizer.epsilon=0.001", "layer.-1.wide_negatives=64", "train.epochs=8"}}},
      {far(one_label && short_rows),
       {"features that say little of one label",
        {"layer.-1.logq_correction=true", "layer.-1.wide_fit=0.0", "layer.-1.wide_scale=1.0",
         "layer.-1.wide_rate=3.0", "data.idf_power=-1.0"}}},
  };
}

}  // namespace

DataTraits traits_of(const Dataset& data) {
  DataTraits traits;
  for (std::size_t i = 0; i < data.samples(); ++i) {
    if (data.labels(i).empty()) continue;
    ++traits.samples;
    traits.features += double(data.features(i).ids.size());
    traits.labels += double(data.labels(i).size());
  }
  const double samples = double(std::max<std::size_t>(traits.samples, 1));
  traits.features /= samples;
  traits.labels /= samples;
  return traits;
}

std::vector<Proposal> proposals_for(const DataTraits& traits) {
  std::vector<Ranked> ranked = ranked_for(traits);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.distance < b.distance; });
  std::vector<Proposal> proposals;
  for (Ranked& each : ranked) proposals.push_back(std::move(each.proposal));
  return proposals;
}

}  // namespace slide
