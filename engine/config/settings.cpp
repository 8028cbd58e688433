#include "engine/config/settings.h"

#include <algorithm>
#include <cmath>

namespace slide {

std::vector<LayerConfig> default_layers(std::size_t count) {
  std::vector<LayerConfig> layers(count);
  if (count == 0) return layers;
  layers.back().size = 0;
  layers.back().kind = LayerKind::kSampled;
  layers.back().wide = true;
  layers.back().init_scale = 0.0;
  return layers;
}

double used_wide_rate(const LayerConfig& layer, std::uint32_t epochs) {
  constexpr double kRate = 1.5, kEpochs = 7;
  if (layer.wide_rate > 0) return layer.wide_rate;
  return kRate * std::sqrt(std::max(1.0, kEpochs / std::max<std::uint32_t>(epochs, 1)));
}

// Chosen by measurements on two logs (configs/interactions.toml).
Config suited_to_interactions(Config base) {
  base.data.kind = DataKind::kInteractions;
  base.text.min_count = 1;
  base.train.epochs = 1;
  base.optimizer.learning_rate = 0.001;  // the item regression is already nearly optimal
  base.neighbours.share = 0;
  base.eval.k = {1, 5, 20};
  if (!base.layers.empty()) {
    LayerConfig& last = base.layers.back();
    last.logq_correction = true;
    last.wide_ridge = 60.0;
    last.wide_features = 1024;
    last.wide_rate = 0.02;  // the initialisation is close to the optimum
    last.wide_fit = 1.0;
  }
  return base;
}

}  // namespace slide
