#include "engine/inference/thresholds.h"
#include "engine/base/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace slide {

Thresholds::Thresholds(double all, std::vector<LabelThreshold> own)
    : all_(all), own_(std::move(own)), min_(all) {
  for (const LabelThreshold& one : own_) min_ = std::min(min_, one.threshold);
}

double Thresholds::of(std::uint32_t label) const {
  const auto found = std::ranges::lower_bound(own_, label, {}, &LabelThreshold::label);
  return found != own_.end() && found->label == label ? found->threshold : all_;
}

std::string probability_fault(double threshold) {
  if (threshold >= 0 && threshold <= 1) return "";
  return fmt::format("the threshold {} is no probability; give one from 0 to 1", threshold);
}

double decimal_of(float score) {
  if (!std::isfinite(score)) return score;
  std::array<char, 64> text;
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), score).ptr;
  return number_of<double>({text.data(), end}).value_or(score);
}

}  // namespace slide
