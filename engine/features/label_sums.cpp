#include "engine/features/label_sums.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace slide {

LabelSums::LabelSums(const Dataset& train, std::size_t labels, const FeatureScale& scale)
    : train_(train), scale_(scale), offsets_(labels + 1, 0) {
  for (std::size_t i = 0; i < train.size(); ++i) {
    for (const std::uint32_t label : train.labels(i)) ++offsets_[label + 1];
  }
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  samples_.resize(offsets_.back());
  std::vector<std::size_t> next(offsets_.begin(), offsets_.end() - 1);
  for (std::size_t i = 0; i < train.size(); ++i) {
    for (const std::uint32_t label : train.labels(i)) samples_[next[label]++] = static_cast<std::uint32_t>(i);
  }
}

LabelSums::Sum LabelSums::make_sum() const {
  Sum sum;
  sum.values.assign(train_.feature_count(), 0.0f);
  sum.listed.assign(train_.feature_count(), 0);
  return sum;
}

void LabelSums::add_up(std::size_t label, Sum& sum) const {
  for (const std::uint32_t id : sum.ids) {
    sum.values[id] = 0.0f;
    sum.listed[id] = 0;
  }
  sum.ids.clear();
  for (const std::uint32_t sample : samples(label)) {
    sum.scaled.clear();
    const SparseRow row = scale_.scaled(train_.features(sample), sum.scaled);
    for (std::size_t i = 0; i < row.ids.size(); ++i) {
      const std::uint32_t id = row.ids[i];
      if (sum.listed[id] == 0) sum.ids.push_back(id);
      sum.listed[id] = 1;
      sum.values[id] += row.values[i];
    }
  }
  sum.square = 0.0;
  for (const std::uint32_t id : sum.ids) sum.square += double(sum.values[id]) * sum.values[id];
}

void keep_strongest(std::vector<std::uint32_t>& ids, std::size_t most, const std::vector<float>& values) {
  const std::size_t kept = std::min(most, ids.size());
  std::nth_element(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(kept), ids.end(),
                   [&](std::uint32_t a, std::uint32_t b) {
                     const float x = std::fabs(values[a]), y = std::fabs(values[b]);
                     return x > y || (x == y && a < b);
                   });
  ids.resize(kept);
}

}  // namespace slide
