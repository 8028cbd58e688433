#include "datasets/rows/occurring_labels.h"

#include <algorithm>

namespace slide {

// Counts in an array by label, or where labels outnumber their occurrences by sorting: time and memory depend
// on the occurrences only.
std::vector<OccurringLabel> occurring_labels(const Dataset& data) {
  std::vector<OccurringLabel> found;
  const auto all = data.sample_labels();
  if (data.label_count() <= all.size()) {
    const std::vector<std::uint32_t> samples = data.label_frequencies();
    for (std::uint32_t label = 0; label < samples.size(); ++label) {
      if (samples[label] > 0) found.push_back({label, samples[label]});
    }
    return found;
  }
  std::vector<std::uint32_t> ids(all.begin(), all.end());
  std::ranges::sort(ids);
  for (const std::uint32_t id : ids) {
    if (found.empty() || found.back().label != id) found.push_back({id, 0});
    ++found.back().samples;
  }
  return found;
}

}  // namespace slide
