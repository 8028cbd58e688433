#include "engine/model/model.h"

#include "engine/inference/candidate_scorer.h"

namespace slide {

void Model::build_tables(int threads) {
  for (std::size_t l = 0; l < hashes.size(); ++l) {
    Layer& layer = network.layers()[l];
    if (hashes[l].generation == 0 || layer.index() != nullptr) continue;
    layer.rebuild_index(hashes[l].seed, hashes[l].generation, threads);
  }
}

void Model::build_asked_tables(int threads) {
  if (CandidateScorer::asks_training_tables(network)) build_tables(threads);
}

}  // namespace slide
