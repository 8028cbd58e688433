#include "engine/config/settings.h"

namespace slide {

std::vector<LayerConfig> default_layers(std::size_t count) {
  std::vector<LayerConfig> layers(count);
  if (count == 0) return layers;
  layers.back().size = 0;
  layers.back().kind = LayerKind::kSampled;
  layers.back().wide = true;
  return layers;
}

// What it changes was measured on two logs (configs/interactions.toml).
Config suited_to_interactions(Config base) {
  base.data.kind = DataKind::kInteractions;
  base.text.min_count = 1;
  base.eval.k = {1, 5, 20};
  if (!base.layers.empty()) {
    base.layers.back().correction = true;
    base.layers.back().wide_ridge = 60.0;
  }
  return base;
}

}  // namespace slide
