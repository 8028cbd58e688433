// Calibration of one-vs-all scores: a map of the log-odds s of a sample's labels after which, of labels with
// probability p, a share p is true on samples like those that it was fitted on,
//   s' = slope * s + offset + mass * log(sum of the probabilities of the best kMassLabels labels).
// Slope and offset are Platt's ("Probabilistic outputs for support vector machines", 1999), with his smoothed
// targets. The mass is added here: a label is less probable where others are probable, too. It is the same
// for all labels of a sample, so that with slope > 0 their order stays.
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

  // The logarithm of the sum of the probabilities of the first kMassLabels of `best`, which are log-odds by
  // falling score.
  static double log_mass(std::span<const Prediction> best);
  // Replaces log-odds of labels of a sample whose log_mass() is given.
  void apply(double log_mass, std::span<Prediction> labels) const;

  bool operator==(const Calibration&) const = default;
};

// Fits a calibration to samples that training has not seen. Not thread-safe.
class CalibrationFit {
 public:
  // Adds the best labels of a sample, log-odds by falling score; `truth` are its labels, ascending.
  void add(std::span<const Prediction> best, std::span<const std::uint32_t> truth);

  // The calibration of greatest likelihood, by Newton's method; O(pairs) a step. nullopt where the scores of
  // no label or of all labels are true, or fall with the share of true ones.
  std::optional<Calibration> fit() const;

 private:
  struct Pair {
    float score, log_mass;
    bool hit;
  };
  std::vector<Pair> pairs_;
};

}  // namespace slide
