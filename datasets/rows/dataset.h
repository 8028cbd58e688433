// Data set in memory: sparse features and label sets in compressed sparse row (CSR) form, and optional dense
// feature columns.
//
// Immutable once built, then safe from any thread. A Dataset views arrays in owned vectors or a mapped file
// and shares their ownership: copies are cheap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "datasets/rows/dense_rows.h"
#include "engine/base/prefetch.h"

namespace slide {

// Features of one sample: ids strictly ascending, one value each, all finite.
struct SparseRow {
  std::span<const std::uint32_t> ids;
  std::span<const float> values;
};
// The features with ids below `features`.
inline SparseRow first_features(const SparseRow& row, std::size_t features) {
  const auto count = static_cast<std::size_t>(std::ranges::lower_bound(row.ids, features) - row.ids.begin());
  return {row.ids.first(count), row.values.first(count)};
}

// Owned arrays of a data set; offsets have samples + 1 elements and start at 0.
struct DatasetArrays {
  std::vector<std::uint64_t> feature_offsets{0};
  std::vector<std::uint32_t> feature_ids;
  std::vector<float> feature_values;
  std::vector<std::uint64_t> label_offsets{0};
  std::vector<std::uint32_t> label_ids;  // ascending and distinct within a sample
  std::vector<float> weights = {};       // of the samples; empty: all 1
};

// Views of the same arrays. Offsets index the id and value arrays.
struct DatasetView {
  std::span<const std::uint64_t> feature_offsets;
  std::span<const std::uint32_t> feature_ids;
  std::span<const float> feature_values;
  std::span<const std::uint64_t> label_offsets;
  std::span<const std::uint32_t> label_ids;
  std::span<const float> weights = {};
  DenseRows dense = {};  // one row per sample, if there are columns
};

// Keys for the choice of validation samples (split.h), one per sample, without label texts.
struct SampleKeys {
  std::vector<std::uint32_t> groups;  // numbered in order of first occurrence, from 0; empty: no groups
  std::vector<std::uint32_t> times;   // smaller is earlier; empty: no times
  bool in_order = false;              // times are the order of the samples
};

class Dataset {
 public:
  Dataset() = default;
  // Takes ownership of the arrays. feature_count (dense columns included) and label_count bound the ids.
  // Throws Error where array sizes are inconsistent; ids are not checked.
  Dataset(DatasetArrays arrays, std::uint32_t feature_count, std::uint32_t label_count);
  // Views arrays that `storage` keeps alive; same rules.
  Dataset(std::shared_ptr<const void> storage, const DatasetView& view, std::uint32_t feature_count,
          std::uint32_t label_count);

  std::size_t size() const { return feature_offsets_.empty() ? 0 : feature_offsets_.size() - 1; }
  // All features: ids below sparse_count() are sparse, dense columns follow.
  std::uint32_t feature_count() const { return feature_count_; }
  std::uint32_t dense_count() const { return static_cast<std::uint32_t>(dense_.columns()); }
  std::uint32_t sparse_count() const { return feature_count_ - dense_count(); }
  std::uint32_t label_count() const { return label_count_; }
  // The arrays; offsets of a slice need not begin at 0.
  DatasetView view() const {
    return {feature_offsets_, feature_ids_, feature_values_, label_offsets_, label_ids_, weights_, dense_};
  }
  // Total entries of this view, without dense ones.
  std::uint64_t feature_entries() const { return entries(feature_offsets_); }
  std::uint64_t label_entries() const { return entries(label_offsets_); }

  const DenseRows& dense() const { return dense_; }
  // The sparse features of a sample.
  SparseRow features(std::size_t sample) const {
    const auto begin = feature_offsets_[sample], count = feature_offsets_[sample + 1] - begin;
    return {feature_ids_.subspan(begin, count), feature_values_.subspan(begin, count)};
  }
  // Prefetches for features() of a sample that is read later: first its offsets, then the begin of its row.
  void prefetch_offsets(std::size_t sample) const { prefetch(&feature_offsets_[sample]); }
  void prefetch_features(std::size_t sample) const {
    constexpr std::size_t kMaxEntries = 128, kEntries = kAlignment / sizeof(float);  // of a row, of a line
    const SparseRow row = features(sample);
    for (std::size_t i = 0; i < std::min(row.ids.size(), kMaxEntries); i += kEntries) {
      prefetch(&row.ids[i]);
      prefetch(&row.values[i]);
    }
  }
  std::span<const std::uint32_t> labels(std::size_t sample) const {
    const auto begin = label_offsets_[sample];
    return label_ids_.subspan(begin, label_offsets_[sample + 1] - begin);
  }

  // Sample weights, factors of gradients; empty: all 1.
  std::span<const float> weights() const { return weights_; }

  // Label weights in training; empty: all 1. Slices and copies of rows keep them; with_counts() drops them.
  std::span<const float> label_weights() const {
    return label_weights_ ? std::span<const float>(*label_weights_) : std::span<const float>();
  }
  // The same samples with label weights, one per label. Throws Error for another number.
  Dataset with_label_weights(std::shared_ptr<const std::vector<float>> weights) const;
  // The same samples with the label weights of `other`, which has equally many labels.
  Dataset with_label_weights_of(const Dataset& other) const {
    return with_label_weights(other.label_weights_);
  }

  // nullptr: none. Copies of rows keep keys, slices do not.
  const std::shared_ptr<const SampleKeys>& keys() const { return keys_; }
  // The same samples with keys. Throws Error for another number of samples.
  Dataset with_keys(std::shared_ptr<const SampleKeys> keys) const;

  // The last rows may be label texts (label_texts.h): a description of a label as a sample of it. They take
  // part in training only: never held out, counted or evaluated.
  std::size_t label_texts() const { return label_texts_; }
  std::size_t samples() const { return size() - label_texts_; }
  // The same rows, the last `count` of which are label texts, without keys. Throws Error where there are
  // fewer rows.
  Dataset with_label_texts(std::size_t count) const;

  // Labels of all samples (without label texts), one sample after the other.
  std::span<const std::uint32_t> sample_labels() const;
  // Number of samples (without label texts) per label, [label_count()].
  std::vector<std::uint32_t> label_frequencies() const;

  // The same samples with only the labels in [first, first + count), ids unchanged; shares features, copies
  // labels.
  Dataset with_labels(std::size_t first, std::size_t count) const;

  // The same samples with larger numbers of features (dense columns included) and labels.
  Dataset with_counts(std::uint32_t features, std::uint32_t labels) const {
    Dataset data = *this;
    data.feature_count_ = features;
    data.label_count_ = labels;
    if (labels != label_count_) data.label_weights_ = nullptr;
    return data;
  }

  // The same samples with these dense columns, one row per sample, replacing existing ones; their ids follow
  // the sparse features. Throws Error for another number of rows.
  Dataset with_dense(DenseRows rows) const;

  // Rows [first, first + count) as a view of the same storage; label texts stay label texts. Throws Error
  // where the range exceeds the rows.
  Dataset slice(std::size_t first, std::size_t count) const;

 private:
  static std::uint64_t entries(std::span<const std::uint64_t> offsets) {
    return offsets.empty() ? 0 : offsets.back() - offsets.front();
  }

  std::shared_ptr<const void> storage_;
  std::span<const std::uint64_t> feature_offsets_;
  std::span<const std::uint32_t> feature_ids_;
  std::span<const float> feature_values_;
  std::span<const std::uint64_t> label_offsets_;
  std::span<const std::uint32_t> label_ids_;
  std::span<const float> weights_;
  std::shared_ptr<const std::vector<float>> label_weights_;  // nullptr: none
  std::shared_ptr<const SampleKeys> keys_;
  DenseRows dense_;
  std::size_t label_texts_ = 0;
  std::uint32_t feature_count_ = 0;
  std::uint32_t label_count_ = 0;
};

}  // namespace slide
