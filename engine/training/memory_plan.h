// Memory that a network will need, computed from its configuration and the shape of its data without
// building it: each part counts its own bytes, here they are added up. Weights, optimizer state and
// workspaces are exact, except for the linear term, which is an upper bound; tables are expected sizes. Pure
// functions, safe from any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "engine/config/config.h"
#include "engine/network/block_bounds.h"
#include "engine/network/network_parts.h"

namespace slide {

struct LayerPlan {
  std::size_t inputs = 0;
  std::size_t neurons = 0;
  std::size_t active = 0;  // neurons computed for a block in training, at most
  double parameters = 0;   // weights and biases
  // Bytes:
  double weights = 0;  // the first layer's with the factors of its features
  double state = 0;    // of the optimizer
  double tables = 0;   // of a sampled layer with an LSH source
};

struct MemoryPlan {
  std::vector<LayerPlan> layers;
  double neighbours = 0;  // samples kept for the kNN prediction; 0 where bounds.samples is not known
  double step = 0;        // working memory of training steps, all threads; without optimizer state
  double evaluation = 0;  // working memory of an evaluation, all threads
  // Peaks of phases before the first step, freed by then: choice of feature crosses (before the network
  // exists), item regression, patterns of the linear term, and feature-weight learning.
  double search = 0, regression = 0, patterns = 0, learning = 0;
  // Ids of the training data, and entries of all its samples; 0 where they are not known.
  std::size_t features = 0, feature_entries = 0, labels = 0, label_entries = 0;

  double parameters() const { return sum(&LayerPlan::parameters); }
  double weights() const { return sum(&LayerPlan::weights); }
  double state() const { return sum(&LayerPlan::state); }
  double tables() const { return sum(&LayerPlan::tables); }
  double workspaces() const { return step + evaluation; }
  double training() const {
    const double steps = weights() + neighbours + std::max(state() + tables() + workspaces(), learning);
    return std::max({search, weights() + regression + patterns, steps});
  }

 private:
  double sum(double LayerPlan::*member) const {
    double total = 0;
    for (const LayerPlan& layer : layers) total += layer.*member;
    return total;
  }
};

// `bounds`: upper bounds of a block of the training data. `threads` as resolved; `busy` of them touch their
// working memory, 0: all.
MemoryPlan plan_memory(const Config& config, std::size_t features, std::size_t labels,
                       const BlockBounds& bounds, int threads, int busy = 0);
// Memory of a process that holds these parts; the linear term counts with its expected size.
MemoryPlan plan_memory(const Config& config, std::size_t features, const NetworkParts& parts,
                       const BlockBounds& bounds, int threads, int busy = 0);

}  // namespace slide
