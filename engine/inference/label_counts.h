// What became of each label: how often it was there, was predicted, and rightly so. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "datasets/dataset.h"
#include "engine/inference/ranking.h"

namespace slide {

class LabelCounts {
 public:
  struct Predicted {
    std::uint32_t all = 0, hits = 0;
  };

  // Of `labels` labels, among the first k predictions for each of `ks`. Labels beyond are left out.
  LabelCounts(const Ranking& ranking, const Dataset& truth, std::vector<std::uint32_t> ks,
              std::size_t labels);

  std::size_t labels() const { return positives_.size(); }
  const std::vector<std::uint32_t>& ks() const { return ks_; }
  // Samples that carry the label.
  std::uint32_t positives(std::size_t label) const { return positives_[label]; }
  // Samples that it is among the first ks()[i] predictions of, and those of them that carry it.
  const Predicted& predicted(std::size_t label, std::size_t i) const {
    return predicted_[label * ks_.size() + i];
  }

  // Labels that samples carry.
  std::size_t carried() const { return carried_; }
  // Of these, the share that is predicted rightly for some sample among the first ks()[i]: coverage as in
  // Schultheis, Wydmuch, Kotłowski, Babbar, Dembczyński, "Generalized test utilities for long-tail
  // performance in extreme multi-label classification", NeurIPS 2023, where it is a share of all labels. 0
  // where no sample has a label.
  double coverage(std::size_t i) const;
  // The share of all labels that is predicted for some sample, rightly or not: catalogue coverage as in
  // Herlocker, Konstan, Terveen, Riedl, "Evaluating collaborative filtering recommender systems", 2004,
  // section 4.3.
  double catalogue(std::size_t i) const;

 private:
  std::vector<std::uint32_t> ks_;
  std::vector<std::uint32_t> positives_;
  std::vector<Predicted> predicted_;  // [labels, ks]
  std::size_t carried_ = 0;
};

}  // namespace slide
