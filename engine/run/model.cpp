#include "engine/run/model.h"

namespace slide {

void Model::build_tables(int threads) {
  for (std::size_t l = 0; l < hashes.size(); ++l) {
    Layer& layer = network.layers()[l];
    if (hashes[l].generation == 0 || layer.index() != nullptr) continue;
    layer.rebuild_index(hashes[l].seed, hashes[l].generation, threads);
  }
}

}  // namespace slide
