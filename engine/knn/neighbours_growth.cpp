// Incremental training of neighbours, and conversion of int8 values to bfloat16.
#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/kernels/bf16.h"
#include "engine/knn/neighbours.h"

namespace slide {

namespace {

// Appends sample `i` of `from` with new ids, without dense columns, unless all its labels are dropped;
// returns whether it was appended.
bool append_sample(const Neighbours::Storage& from, std::size_t i, std::span<const std::uint32_t> features,
                   std::span<const std::uint32_t> labels, Neighbours::Storage& to) {
  const std::size_t labels_before = to.labels.size();
  for (std::uint64_t at = from.label_offsets[i]; at < from.label_offsets[i + 1]; ++at) {
    if (labels[from.labels[at]] != kNewId) to.labels.push_back(labels[from.labels[at]]);
  }
  if (to.labels.size() == labels_before) return false;
  for (std::uint64_t at = from.feature_offsets[i]; at < from.feature_offsets[i + 1]; ++at) {
    to.features.push_back(features[from.features[at]]);
    to.values.push_back(from.values[at]);
  }
  to.feature_offsets.push_back(to.features.size());
  to.label_offsets.push_back(to.labels.size());
  return true;
}

// Whether the samples of `many` from `first` on begin with the samples of `few`, compared by features and
// labels.
bool begins_with(const Neighbours::Storage& many, std::size_t first, const Neighbours::Storage& few) {
  const auto same = [&](const std::vector<std::uint64_t>& offsets, const std::vector<std::uint32_t>& ids,
                        const std::vector<std::uint64_t>& few_offsets,
                        const std::vector<std::uint32_t>& few_ids) {
    const std::uint64_t begin = offsets[first];
    for (std::size_t i = 0; i < few_offsets.size(); ++i) {
      if (offsets[first + i] - begin != few_offsets[i]) return false;
    }
    return std::equal(few_ids.begin(), few_ids.end(), ids.begin() + static_cast<std::ptrdiff_t>(begin));
  };
  const auto same_dense = [&] {
    if (few.dense.columns() == 0) return true;
    for (std::size_t i = 0; i < few.samples(); ++i) {
      if (!few.dense.same_row(i, many.dense, first + i)) return false;
    }
    return true;
  };
  return first + few.samples() <= many.samples() &&
         same(many.feature_offsets, many.features, few.feature_offsets, few.features) &&
         same(many.label_offsets, many.labels, few.label_offsets, few.labels) && same_dense();
}

}  // namespace

// Stores samples that both have once: only `added` where it begins with the old samples, only the old ones
// where they end with `added`; else the old samples, then `added`.
Neighbours Neighbours::grown(const NeighbourConfig& config, const Storage* before, const Growth& growth,
                             const Dataset& more, const FeatureScale& scale) {
  if (before != nullptr && before->small.in_bytes()) {
    Storage wide = *before;
    wide.widen();
    return grown(config, &wide, growth, more, scale);
  }
  Neighbours added(config, more, scale);
  if (before == nullptr) return added;
  const std::vector<std::uint32_t> features = growth.features.now(), labels = growth.labels.now();
  Storage all;
  std::vector<std::uint32_t> kept;
  for (std::uint32_t i = 0; i < before->samples(); ++i) {
    if (append_sample(*before, i, features, labels, all)) kept.push_back(i);
  }
  if (added.dense()) all.dense = before->dense.chosen(kept);
  const Storage& from = added.storage();
  if (begins_with(from, 0, all)) return added;
  if (from.samples() <= all.samples() && begins_with(all, all.samples() - from.samples(), from))
    return {config, std::move(all), more.feature_count()};
  const std::uint64_t feature_entries = all.features.size(), label_entries = all.labels.size();
  for (std::size_t i = 1; i < from.feature_offsets.size(); ++i) {
    all.feature_offsets.push_back(feature_entries + from.feature_offsets[i]);
    all.label_offsets.push_back(label_entries + from.label_offsets[i]);
  }
  all.features.insert(all.features.end(), from.features.begin(), from.features.end());
  all.values.insert(all.values.end(), from.values.begin(), from.values.end());
  all.labels.insert(all.labels.end(), from.labels.begin(), from.labels.end());
  if (added.dense()) all.dense = all.dense.with(from.dense);
  if (all.samples() > UINT32_MAX) fail_run("{} samples are too many for neighbours", all.samples());
  return {config, std::move(all), more.feature_count()};
}

void Neighbours::Storage::widen() {
  if (!small.in_bytes()) return;
  values.resize(features.size());
  for (std::size_t i = 0; i < samples(); ++i) {
    for (std::uint64_t at = feature_offsets[i]; at < feature_offsets[i + 1]; ++at)
      values[at] = kernels::to_bf16(small.byte(i, at));
  }
  small = {};
}

}  // namespace slide
