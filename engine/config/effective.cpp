#include "engine/config/effective.h"

#include <fmt/format.h>

#include "engine/config/config.h"

namespace slide {

Config effective_config(const Config& stated, const JobFacts& facts, std::vector<std::string>* notes) {
  Config config = stated;
  if (facts.processes > 1 && config.train.shards == 1) {
    config.train.shards = facts.processes;
    validate(config);
    if (notes != nullptr)
      notes->push_back(fmt::format("train.shards = {}, as there are processes", facts.processes));
  }
  if (facts.dense_only) {
    config.layers.back().wide = false;
    config.data.idf_power = 0;
    config.data.crosses = 0;
  }
  return config;
}

}  // namespace slide
