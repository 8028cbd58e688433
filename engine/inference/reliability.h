// Reliability: whether scores are probabilities, that is, whether of the predictions with a score of p a
// share of p is true (Guo and others, "On calibration of modern neural networks", 2017). Scores and true
// labels as in ranking.h. Functions are safe from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "datasets/rows/dataset.h"
#include "engine/inference/ranking.h"

namespace slide {

struct Reliability {
  static constexpr std::size_t kBins = 15;  // of equal width: bin b has the scores from b / 15 on

  struct Bin {
    std::uint64_t predictions = 0;
    double scores = 0;  // their sum
    std::uint64_t hits = 0;

    double mean_score() const { return predictions == 0 ? 0.0 : scores / static_cast<double>(predictions); }
    double true_share() const {
      return predictions == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(predictions);
    }
  };
  std::array<Bin, kBins> bins;

  // Adds a prediction; returns false, and adds nothing, for a score that is no probability.
  bool add(float score, bool hit);
  std::uint64_t predictions() const;
  // The expected calibration error: |mean score - share of true ones|, a mean over the predictions.
  double error() const;
};

// Reliability over all (sample, label) pairs with a score; nullopt without scores, or where one is outside
// [0, 1]. O(n).
std::optional<Reliability> reliability(const Dataset& scores, const Dataset& truth);
// Reliability of the first label of each sample that has one.
std::optional<Reliability> top_reliability(const Dataset& scores, const Ranking& ranking,
                                           const Dataset& truth);

}  // namespace slide
