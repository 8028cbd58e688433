// The labels that occur in a data set. Pure functions, safe from any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "datasets/rows/dataset.h"

namespace slide {

struct OccurringLabel {
  std::uint32_t label;
  std::uint32_t samples;  // that have it, at least one
};

// The labels that occur, ascending, with the numbers of their samples (without label texts). O(n) for n
// entries of labels, while label_count() <= n. Otherwise sorts in O(n log n): memory must not depend on
// label_count(), which a single wrong id makes large.
std::vector<OccurringLabel> occurring_labels(const Dataset& data);

}  // namespace slide
