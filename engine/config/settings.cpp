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

}  // namespace slide
