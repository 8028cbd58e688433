// Configurations that have suited sets of a shape: where a search begins beside the configuration as it is.
// Pure functions, safe from any thread.
#pragma once

#include <string>
#include <vector>

#include "datasets/rows/dataset.h"

namespace slide {

// Traits of the data by which proposals are chosen.
struct DataTraits {
  std::size_t samples = 0;  // with labels
  double features = 0.0;    // of such a sample, mean
  double labels = 0.0;      // likewise
};
DataTraits traits_of(const Dataset& data);

struct Proposal {
  std::string name;  // "few samples"
  std::vector<std::string>
      changes;  // overrides, by the names of a network with one hidden layer and "layer.-1."
};

// All there are, those that suit such data best first.
std::vector<Proposal> proposals_for(const DataTraits& traits);

}  // namespace slide
