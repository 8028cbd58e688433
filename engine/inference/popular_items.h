// The answer to samples of interactions without items: the items that most users have, with the share of the
// users as the probability (sigmoid loss), or of all entries of the log (softmax). Where several processes
// hold the network, each ranks its own labels.
#pragma once

#include <span>
#include <vector>

#include "engine/inference/prediction_batch.h"
#include "engine/inference/top_k.h"

namespace slide {

// Immutable, safe from any thread.
class PopularItems {
 public:
  // Whether samples without items get popular items: of models of interactions with label_frequencies.
  static bool are_given(const TrainedNetwork& trained);

  // Ranks the labels by trained.label_frequencies; none unless are_given(). O(n log n) for n labels.
  explicit PopularItems(const TrainedNetwork& trained);

  bool empty() const { return ranked_.empty(); }
  // Best first, without items that nobody has.
  std::span<const Prediction> ranked() const { return ranked_; }
  // With softmax: logarithm of the sum of the probabilities of the labels of this process; 0 where one
  // process holds all labels.
  double log_norm() const { return log_norm_; }

 private:
  std::vector<Prediction> ranked_;
  double log_norm_ = 0;
};

}  // namespace slide
