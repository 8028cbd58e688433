#include "engine/loop/fresh_network.h"

#include <utility>

#include "engine/base/error.h"
#include "engine/network/loss.h"

namespace slide {

namespace {

// Throws InputError for a setting that the core alone does not have.
void check_core_alone(const Config& config) {
  // Whether the configuration uses an extension, and the setting without it.
  const std::pair<bool, const char*> extensions[] = {
      {config.layers.back().wide, "layer.-1.wide = false"},
      {config.data.crosses > 0, "data.crosses = 0"},
      {config.data.idf_power != 0, "data.idf_power = 0"},
      {config.neighbours.share > 0, "neighbours.share = 0"},
      {config.train.shards > 1, "train.shards = 1"},
  };
  for (const auto& [used, setting] : extensions) {
    if (used) fail_input("the core alone trains with {} only", setting);
  }
}

}  // namespace

Network fresh_network(const Config& config, const Dataset& rows, int threads) {
  check_core_alone(config);
  const DataShape shape = shape_of(rows);
  Network network(config, shape);
  network.initialise(threads);
  if (starts_at_frequencies(config.loss.kind)) {
    for (std::size_t label = 0; label < shape.labels; ++label) {
      *network.output().bias().row(label) =
          static_cast<float>(config.loss.prior * log_odds(shape.label_frequencies[label], shape.samples));
    }
  }
  network.rebuild_index(1, threads);
  return network;
}

}  // namespace slide
