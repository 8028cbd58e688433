// The effective configuration of a job. Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/config/settings.h"

namespace slide {

// Facts of a job that automatic settings of its configuration depend on.
struct JobFacts {
  std::uint32_t processes = 1;  // that train together
  bool dense_only = false;      // all features of the training samples are dense columns
};

// The configuration that a job works by and that its model records: `stated` with its automatic values filled
// in. It is made once for a job and does not change afterwards.
//
// - train.shards = 1 becomes the number of processes; a sentence about it is appended to `notes` (may be
//   nullptr).
// - Without sparse features, the linear term, idf factors and feature crosses are off.
//
// Values that follow from other keys stay as they are: layer size 0 (output_neurons()), wide_rate 0
// (used_wide_rate()). Throws InputError where the result breaks a rule.
Config effective_config(const Config& stated, const JobFacts& facts,
                        std::vector<std::string>* notes = nullptr);

}  // namespace slide
