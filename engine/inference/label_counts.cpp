#include "engine/inference/label_counts.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace slide {

namespace {

// The labels below `labels` that samples or predictions have, ascending.
std::vector<std::uint32_t> occurring(const Ranking& ranking, const Dataset& truth, std::size_t labels) {
  const auto carried = truth.sample_labels();
  std::vector<std::uint32_t> ids(carried.begin(), carried.end());
  for (std::size_t sample = 0; sample < truth.samples(); ++sample)
    ids.insert(ids.end(), ranking[sample].begin(), ranking[sample].end());
  std::erase_if(ids, [&](std::uint32_t label) { return label >= labels; });
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace

// Counts positives by label, and predictions and hits [ids x ks]: rank r counts for every k above r.
LabelCounts::LabelCounts(const Ranking& ranking, const Dataset& truth, std::vector<std::uint32_t> ks,
                         std::size_t labels)
    : ks_(std::move(ks)),
      labels_(labels),
      ids_(occurring(ranking, truth, labels)),
      positives_(ids_.size()),
      predicted_(ids_.size() * ks_.size()) {
  for (std::size_t sample = 0; sample < truth.samples(); ++sample) {
    const auto carried = truth.labels(sample);
    for (const std::uint32_t label : carried) {
      if (label < labels) ++positives_[place(label)];
    }
    const auto best = ranking[sample];
    for (std::size_t rank = 0; rank < best.size(); ++rank) {
      if (best[rank] >= labels) continue;
      const std::uint32_t hit = std::ranges::binary_search(carried, best[rank]) ? 1 : 0;
      Predicted* const counts = &predicted_[place(best[rank]) * ks_.size()];
      for (std::size_t i = 0; i < ks_.size(); ++i) {
        if (rank >= ks_[i]) continue;
        ++counts[i].all;
        counts[i].hits += hit;
      }
    }
  }
  with_samples_ = static_cast<std::size_t>(
      std::ranges::count_if(positives_, [](std::uint32_t positives) { return positives > 0; }));
}

std::size_t LabelCounts::place(std::size_t label) const {
  const auto at = std::ranges::lower_bound(ids_, label);
  return at == ids_.end() || *at != label ? ids_.size() : static_cast<std::size_t>(at - ids_.begin());
}

std::uint32_t LabelCounts::positives(std::size_t label) const {
  const std::size_t at = place(label);
  return at == ids_.size() ? 0 : positives_[at];
}

LabelCounts::Predicted LabelCounts::predicted(std::size_t label, std::size_t i) const {
  const std::size_t at = place(label);
  return at == ids_.size() ? Predicted() : predicted_[at * ks_.size() + i];
}

double LabelCounts::coverage(std::size_t i) const {
  std::size_t found = 0;
  for (std::size_t at = 0; at < ids_.size(); ++at) found += predicted_[at * ks_.size() + i].hits > 0 ? 1 : 0;
  return with_samples_ == 0 ? 0.0 : static_cast<double>(found) / static_cast<double>(with_samples_);
}

double LabelCounts::catalogue(std::size_t i) const {
  std::size_t shown = 0;
  for (std::size_t at = 0; at < ids_.size(); ++at) shown += predicted_[at * ks_.size() + i].all > 0 ? 1 : 0;
  return labels_ == 0 ? 0.0 : static_cast<double>(shown) / static_cast<double>(labels_);
}

double LabelCounts::novelty(std::size_t i, const Popularity& popularity) const {
  double sum = 0;
  std::uint64_t all = 0;
  for (std::size_t at = 0; at < ids_.size(); ++at) {
    const std::uint32_t label = ids_[at];
    const std::uint32_t frequency = label < popularity.frequencies.size() ? popularity.frequencies[label] : 0;
    const std::uint32_t predictions = predicted_[at * ks_.size() + i].all;
    sum += predictions * std::log2(static_cast<double>(std::max<std::uint64_t>(popularity.samples, 1)) /
                                   std::max<std::uint32_t>(frequency, 1));
    all += predictions;
  }
  return all == 0 ? 0.0 : sum / static_cast<double>(all);
}

}  // namespace slide
