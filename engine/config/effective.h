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
  std::size_t labels = 0;       // of the training data; 0: not known yet
  bool named_labels = false;    // each label has a name, and only these have
};

// The configuration that a job works by and that its model records: `stated` with its automatic values filled
// in. It is made once for a job and does not change afterwards.
//
// - train.shards = 1 becomes the number of processes.
// - Without sparse features, the linear term, idf factors and feature crosses are off.
// - A last layer larger than the number of labels stays, but is refused where labels have names.
//
// A sentence for each change that was not to be expected is appended to `notes` (may be nullptr).
//
// Values that follow from other keys stay as they are: layer size 0 (output_neurons()), wide_rate 0
// (used_wide_rate()). Throws InputError where the result breaks a rule.
Config effective_config(const Config& stated, const JobFacts& facts,
                        std::vector<std::string>* notes = nullptr);

}  // namespace slide
