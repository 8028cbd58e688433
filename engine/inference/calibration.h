// Calibration of one-vs-all scores: maps the log-odds s of a sample's labels to
//   s' = slope * s + offset + mass * log(sum of the probabilities of the best kMassLabels labels),
// fitted such that among labels of probability p about a share p is true.
//
// Slope and offset are Platt's ("Probabilistic outputs for support vector machines", 1999), with his smoothed
// targets. The third term is added here: a label is less probable where others are probable, too. It is the
// same for all labels of a sample; with slope > 0 it keeps their order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/inference/top_k.h"

namespace slide {

struct Calibration {
  static constexpr std::size_t kMassLabels = 20;

  float slope = 1, offset = 0, mass = 0;

  // The logarithm of the sum of the probabilities of the first kMassLabels of `best`, whose scores are
  // log-odds, descending.
  static double log_mass(std::span<const Prediction> best);
  // Replaces log-odds of labels of a sample whose log_mass() is given.
  void apply(double log_mass, std::span<Prediction> labels) const;

  bool operator==(const Calibration&) const = default;
};

// Fits a calibration to samples that training has not seen. Not thread-safe.
class CalibrationFit {
 public:
  // Adds the best labels of a sample, whose scores are log-odds, descending; `truth`: its labels, ascending.
  void add(std::span<const Prediction> best, std::span<const std::uint32_t> truth);

  // The calibration of max likelihood, by Newton's method; O(pairs) per step. nullopt where no label or every
  // label is true, or where higher scores are less often true.
  std::optional<Calibration> fit() const;

 private:
  struct Pair {
    float score, log_mass;
    bool hit;
  };
  class Loss;
  std::vector<Pair> pairs_;
};

}  // namespace slide
