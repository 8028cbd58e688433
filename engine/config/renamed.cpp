#include "engine/config/fields.h"

namespace slide::config {

std::span<const Renamed> renamed_keys() {
  static constexpr Renamed kRenamed[] = {
      {"data.pairs", "data.crosses"},
      {"data.hide", "data.mask"},
      {"train.forget", "train.expire_labels"},
      {"loss.delta_floor", "loss.gradient_threshold"},
      {"neighbours.companions", "neighbours.cooccurrence"},
      {"layer.correction", "layer.logq_correction"},
      {"layer.wide_against", "layer.wide_negatives"},
  };
  return kRenamed;
}

}  // namespace slide::config
