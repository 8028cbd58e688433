// Proposals: configurations that were good for data of a certain shape. A search starts with them after the
// given configuration. Pure functions, safe from any thread.
#pragma once

#include <string>
#include <vector>

#include "datasets/rows/dataset.h"

namespace slide {

// Traits of the data by which proposals are chosen.
struct DataTraits {
  std::size_t samples = 0;  // with labels
  double features = 0.0;    // mean features of a labelled sample
  double labels = 0.0;      // mean labels of a labelled sample
};
DataTraits traits_of(const Dataset& data);

struct Proposal {
  std::string name;  // "few samples"
  std::vector<std::string>
      changes;  // overrides, by the names of a network with one hidden layer and "layer.-1."
};

// All proposals, the best for data with these traits first.
std::vector<Proposal> proposals_for(const DataTraits& traits);

}  // namespace slide
