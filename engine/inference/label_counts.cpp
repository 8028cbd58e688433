#include "engine/inference/label_counts.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace slide {

LabelCounts::LabelCounts(const Ranking& ranking, const Dataset& truth, std::vector<std::uint32_t> ks,
                         std::size_t labels)
    : ks_(std::move(ks)), positives_(labels), predicted_(labels * ks_.size()) {
  for (std::size_t sample = 0; sample < truth.size(); ++sample) {
    const auto carried = truth.labels(sample);
    for (const std::uint32_t label : carried) {
      if (label < labels) ++positives_[label];
    }
    const auto best = ranking[sample];
    for (std::size_t rank = 0; rank < best.size(); ++rank) {
      if (best[rank] >= labels) continue;
      const std::uint32_t hit = std::ranges::binary_search(carried, best[rank]) ? 1 : 0;
      for (std::size_t i = 0; i < ks_.size(); ++i) {
        if (rank >= ks_[i]) continue;
        Predicted& counts = predicted_[best[rank] * ks_.size() + i];
        ++counts.all;
        counts.hits += hit;
      }
    }
  }
  carried_ = static_cast<std::size_t>(
      std::ranges::count_if(positives_, [](std::uint32_t positives) { return positives > 0; }));
}

double LabelCounts::coverage(std::size_t i) const {
  std::size_t found = 0;
  for (std::size_t label = 0; label < labels(); ++label) found += predicted(label, i).hits > 0 ? 1 : 0;
  return carried_ == 0 ? 0.0 : static_cast<double>(found) / static_cast<double>(carried_);
}

double LabelCounts::catalogue(std::size_t i) const {
  std::size_t shown = 0;
  for (std::size_t label = 0; label < labels(); ++label) shown += predicted(label, i).all > 0 ? 1 : 0;
  return labels() == 0 ? 0.0 : static_cast<double>(shown) / static_cast<double>(labels());
}

double LabelCounts::novelty(std::size_t i, const Popularity& popularity) const {
  double sum = 0;
  std::uint64_t all = 0;
  for (std::size_t label = 0; label < labels(); ++label) {
    const std::uint32_t known = label < popularity.frequencies.size() ? popularity.frequencies[label] : 0;
    const auto times = predicted(label, i).all;
    sum += times * std::log2(static_cast<double>(std::max<std::uint64_t>(popularity.samples, 1)) /
                             std::max<std::uint32_t>(known, 1));
    all += times;
  }
  return all == 0 ? 0.0 : sum / static_cast<double>(all);
}

}  // namespace slide
