// State of the hash tables for reports. Pure functions, safe while nothing trains the network.
#pragma once

#include <optional>

#include "engine/loop/reports.h"

namespace slide {

class Layer;
class Network;

// How full the tables of a layer are, over all of its shards here. The layer has tables.
lsh::Occupancy occupancy_of(const Layer& layer);

// Health of the output layer's tables; `recall`: of the last step. nullopt without tables.
std::optional<TableHealth> table_health(const Network& network, std::optional<double> recall);

}  // namespace slide
