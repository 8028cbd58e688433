#include "engine/statistics/label_sums.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "engine/statistics/top_bound.h"

namespace slide {

LabelSums::LabelSums(const Dataset& train, std::size_t labels, const FeatureScale& scale)
    : train_(train),
      scale_(scale),
      samples_(train.size(), labels, [&](std::size_t i) { return train.labels(i); }) {}

LabelSums::Sum LabelSums::make_sum() const {
  Sum sum;
  sum.values.assign(train_.feature_count(), 0.0f);
  sum.listed.assign(train_.feature_count(), 0);
  return sum;
}

// Resets only the features of the previous sum, so that the cost does not depend on the number of features.
// Rows of samples are scattered in memory: those of the next labels are prefetched.
void LabelSums::add_up(std::size_t label, Sum& sum) const {
  float* values = sum.values.data();
  std::uint8_t* listed = sum.listed.data();
  for (const std::uint32_t id : sum.ids) {
    values[id] = 0.0f;
    listed[id] = 0;
  }
  samples_.prefetch_after(
      label, [&](std::uint32_t sample) { train_.prefetch_features(sample); },
      [&](std::uint32_t sample) { train_.prefetch_offsets(sample); });
  std::size_t count = 0;
  for (const std::uint32_t sample : samples(label)) {
    sum.scaled.clear();
    const SparseRow row = scale_.scaled(train_.features(sample), sum.scaled);
    if (sum.ids.size() < count + row.ids.size()) sum.ids.resize(count + row.ids.size());
    std::uint32_t* ids = sum.ids.data();
    for (std::size_t i = 0; i < row.ids.size(); ++i) {
      const std::uint32_t id = row.ids[i];
      // Branch-free: the branch is unpredictable. count is at most the number of entries so far.
      ids[count] = id;
      count += listed[id] == 0 ? 1 : 0;
      listed[id] = 1;
      values[id] += row.values[i];
    }
  }
  sum.ids.resize(count);
  sum.square = 0.0;
  for (const std::uint32_t id : sum.ids) sum.square += double(values[id]) * values[id];
}

double dot(const SparseRow& row, std::span<const float> dense) {
  double sum = 0.0;
  for (std::size_t i = 0; i < row.ids.size(); ++i) sum += double(row.values[i]) * dense[row.ids[i]];
  return sum;
}

// A squared length below 1e-6 of the sum's is rounding error: no other sample has a feature.
double similarity_to_others(const SparseRow& row, const LabelSums::Sum& sum, std::size_t samples) {
  double square = 0.0;
  for (const float value : row.values) square += double(value) * value;
  const double product = dot(row, sum.values) - square;
  const double left = sum.square - 2.0 * product - square;  // |s - x|^2
  return samples < 2 || left <= 1e-6 * sum.square ? 0.0 : product / std::sqrt(left);
}

// Cuts the ids to a few by a bound of the top `limit` first, then selects among these.
void keep_strongest(std::vector<std::uint32_t>& ids, std::size_t limit, const std::vector<float>& values) {
  if (ids.size() <= limit) return;
  // Sort key, ascending: by decreasing |value|, then by id. No thread_local: where memory fails, glibc aborts
  // at the registration of its destructor.
  std::vector<std::uint64_t> keys(ids.size()), first;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::uint64_t size = std::bit_cast<std::uint32_t>(std::fabs(values[ids[i]]));
    keys[i] = ~size << 32 | ids[i];
  }
  const std::uint64_t last =
      top_bound<std::uint64_t>(limit, keys, std::less<>(), std::numeric_limits<std::uint64_t>::max(), first);
  std::size_t kept = 0;
  for (const std::uint64_t key : keys) {  // branch-free: the branch is unpredictable
    keys[kept] = key;
    kept += key <= last ? 1 : 0;
  }
  keys.resize(kept);
  const auto end = keys.begin() + static_cast<std::ptrdiff_t>(limit);
  std::nth_element(keys.begin(), end, keys.end());
  ids.resize(limit);
  for (std::size_t i = 0; i < limit; ++i) ids[i] = static_cast<std::uint32_t>(keys[i]);
}

}  // namespace slide
