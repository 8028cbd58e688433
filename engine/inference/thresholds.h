// Thresholds on scores: a label is predicted where its score reaches its threshold. Immutable once filled;
// concurrent reads are safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slide {

// The threshold of one label.
struct LabelThreshold {
  std::uint32_t label = 0;
  double threshold = 0;

  bool operator==(const LabelThreshold&) const = default;
};

class Thresholds {
 public:
  // `own`: thresholds of labels, ascending by label, each once; all others have `all`. They are decimals, not
  // their nearest floats (reaching.h: reaches_written()).
  explicit Thresholds(double all, std::vector<LabelThreshold> own = {});

  double all() const { return all_; }
  const std::vector<LabelThreshold>& own() const { return own_; }
  // O(log own().size()).
  double of(std::uint32_t label) const;
  // The smallest of all: a score below it reaches none.
  double min() const { return min_; }

  bool operator==(const Thresholds&) const = default;

 private:
  double all_;
  std::vector<LabelThreshold> own_;
  double min_;
};

// Why a number cannot be a threshold on probabilities, as a sentence; empty where it lies from 0 to 1.
std::string probability_fault(double threshold);

// The shortest decimal of a float, as a double: 0.7, not 0.699999988.
double decimal_of(float score);

}  // namespace slide
