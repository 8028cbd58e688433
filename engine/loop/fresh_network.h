// Initial network of the core (without feature crosses and linear term). Pure function, safe from any thread.
#pragma once

#include "datasets/rows/dataset.h"
#include "engine/config/config.h"
#include "engine/network/network.h"

namespace slide {

// Random weights of the configured seed; biases of a one-vs-all output layer at loss.prior times the log-odds
// of the labels in `rows`; hash tables of generation 1. Throws InputError where the configuration has
// extensions of the core: the linear term, feature crosses, idf factors, the kNN prediction, interactions,
// several shards.
Network fresh_network(const Config& config, const Dataset& rows, int threads);

}  // namespace slide
