// A data set in memory: sparse features and label sets in compressed sparse row form, and dense columns of
// features beside the sparse ones or in place of them.
//
// Immutable once built and then safe to read from any thread. The arrays may live in owned vectors or in a
// mapped file; a Dataset only views them and shares their ownership, so copies are cheap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "datasets/dense_rows.h"

namespace slide {

// Features of one sample: ids strictly ascending, one value each, all finite.
struct SparseRow {
  std::span<const std::uint32_t> ids;
  std::span<const float> values;
};
// Without the features from `features` on.
inline SparseRow first_features(const SparseRow& row, std::size_t features) {
  const auto count = static_cast<std::size_t>(std::ranges::lower_bound(row.ids, features) - row.ids.begin());
  return {row.ids.first(count), row.values.first(count)};
}

// Owned storage of a data set; offsets have size samples + 1 and start at 0.
struct DatasetArrays {
  std::vector<std::uint64_t> feature_offsets{0};
  std::vector<std::uint32_t> feature_ids;
  std::vector<float> feature_values;
  std::vector<std::uint64_t> label_offsets{0};
  std::vector<std::uint32_t> label_ids;  // ascending and distinct within a sample
  std::vector<float> weights = {};       // of the samples; empty: all are 1
};

// The same arrays wherever they live. Offsets index the id and value arrays.
struct DatasetView {
  std::span<const std::uint64_t> feature_offsets;
  std::span<const std::uint32_t> feature_ids;
  std::span<const float> feature_values;
  std::span<const std::uint64_t> label_offsets;
  std::span<const std::uint32_t> label_ids;
  std::span<const float> weights = {};
  DenseRows dense = {};  // one a sample, where there are columns
};

// What samples that are held out for validation are chosen by, see split.h; for each sample, but not for
// texts of labels.
struct SampleKeys {
  std::vector<std::uint32_t>
      groups;  // in the order of their first samples from 0 on; empty: no sample has one
  std::vector<std::uint32_t> times;  // less is earlier; empty: no sample has one
  bool in_order = false;             // times are the order of the samples
};

class Dataset {
 public:
  Dataset() = default;
  // Takes the arrays over. feature_count and label_count bound the ids; feature_count includes dense columns.
  // Throws Error when the sizes of the arrays do not fit together; the ids themselves are not looked at.
  Dataset(DatasetArrays arrays, std::uint32_t feature_count, std::uint32_t label_count);
  // Views arrays that `storage` keeps alive, under the same rules.
  Dataset(std::shared_ptr<const void> storage, const DatasetView& view, std::uint32_t feature_count,
          std::uint32_t label_count);

  std::size_t size() const { return feature_offsets_.empty() ? 0 : feature_offsets_.size() - 1; }
  // All features: ids below sparse_count() are sparse, the dense columns count on from there.
  std::uint32_t feature_count() const { return feature_count_; }
  std::uint32_t dense_count() const { return static_cast<std::uint32_t>(dense_.columns()); }
  std::uint32_t sparse_count() const { return feature_count_ - dense_count(); }
  std::uint32_t label_count() const { return label_count_; }
  // The arrays; offsets of a slice need not begin at 0.
  DatasetView view() const {
    return {feature_offsets_, feature_ids_, feature_values_, label_offsets_, label_ids_, weights_, dense_};
  }
  // Entries of all samples of this view, without dense ones.
  std::uint64_t feature_entries() const { return entries(feature_offsets_); }
  std::uint64_t label_entries() const { return entries(label_offsets_); }

  const DenseRows& dense() const { return dense_; }
  // The sparse features of a sample.
  SparseRow features(std::size_t sample) const {
    const auto begin = feature_offsets_[sample], count = feature_offsets_[sample + 1] - begin;
    return {feature_ids_.subspan(begin, count), feature_values_.subspan(begin, count)};
  }
  std::span<const std::uint32_t> labels(std::size_t sample) const {
    const auto begin = label_offsets_[sample];
    return label_ids_.subspan(begin, label_offsets_[sample + 1] - begin);
  }

  // What the gradients of each sample are multiplied with; empty: all 1.
  std::span<const float> weights() const { return weights_; }

  // What each label counts in training; empty: all 1. They go with slices and copies of rows, not with other
  // labels.
  std::span<const float> label_weights() const {
    return label_weights_ ? std::span<const float>(*label_weights_) : std::span<const float>();
  }
  // The same samples with these, one for each of label_count(). Throws Error where there are not as many.
  Dataset with_label_weights(std::shared_ptr<const std::vector<float>> weights) const;
  // The same samples with those of `other`, which has as many labels.
  Dataset with_label_weights_of(const Dataset& other) const {
    return with_label_weights(other.label_weights_);
  }

  // nullptr: none. They go with copies of rows, not with slices.
  const std::shared_ptr<const SampleKeys>& keys() const { return keys_; }
  // The same samples with these. Throws Error where they are not of as many samples.
  Dataset with_keys(std::shared_ptr<const SampleKeys> keys) const;

  // The last rows may be texts of labels (label_texts.h): what a label is said to be, as a sample of it. They
  // are trained on, but no samples are held out of them, and nothing that is counted or measured counts them.
  std::size_t label_texts() const { return label_texts_; }
  std::size_t samples() const { return size() - label_texts_; }
  // The same rows, of which the last `count` are such, without keys. Throws Error where there are not as
  // many.
  Dataset with_label_texts(std::size_t count) const;

  // How many samples, but for texts of labels, carry each label; size label_count().
  std::vector<std::uint32_t> label_frequencies() const;

  // The same samples with those of their labels that lie in [first, first + count), numbered from `first` on:
  // features are shared, labels copied.
  Dataset with_labels(std::size_t first, std::size_t count) const;

  // The same samples of so many features, dense columns included, and labels, which must not be less.
  Dataset with_counts(std::uint32_t features, std::uint32_t labels) const {
    Dataset data = *this;
    data.feature_count_ = features;
    data.label_count_ = labels;
    if (labels != label_count_) data.label_weights_ = nullptr;
    return data;
  }

  // The same samples with these dense columns, one row for each, in place of those there are; they come
  // behind the sparse features. Throws Error when there is another number of rows.
  Dataset with_dense(DenseRows rows) const;

  // Rows [first, first + count) as a view of the same storage, texts of labels as such. Throws Error when
  // they reach past the end.
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
