#include "datasets/rows/dataset.h"

#include <utility>

#include "engine/base/error.h"

namespace slide {

namespace {

void check_offsets(std::span<const std::uint64_t> offsets, std::size_t entries, const char* what) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != entries) {
    fail_run("data set: the {} offsets do not fit their {} entries", what, entries);
  }
}

DatasetView view_of(const DatasetArrays& arrays) {
  return {arrays.feature_offsets,
          arrays.feature_ids,
          arrays.feature_values,
          arrays.label_offsets,
          arrays.label_ids,
          arrays.weights,
          {}};
}

}  // namespace

// Checks that the arrays fit each other; `storage` keeps them alive.
Dataset::Dataset(std::shared_ptr<const void> storage, const DatasetView& view, std::uint32_t feature_count,
                 std::uint32_t label_count)
    : storage_(std::move(storage)),
      feature_offsets_(view.feature_offsets),
      feature_ids_(view.feature_ids),
      feature_values_(view.feature_values),
      label_offsets_(view.label_offsets),
      label_ids_(view.label_ids),
      weights_(view.weights),
      dense_(view.dense),
      feature_count_(feature_count),
      label_count_(label_count) {
  check_offsets(feature_offsets_, feature_ids_.size(), "feature");
  check_offsets(label_offsets_, label_ids_.size(), "label");
  if (feature_ids_.size() != feature_values_.size() || feature_offsets_.size() != label_offsets_.size()) {
    fail_run("data set: {} feature ids but {} values, {} rows of features but {} of labels",
             feature_ids_.size(), feature_values_.size(), feature_offsets_.size() - 1,
             label_offsets_.size() - 1);
  }
  if (!weights_.empty() && weights_.size() != size())
    fail_run("data set: {} weights for {} samples", weights_.size(), size());
  if (dense_.columns() > 0 && dense_.size() != size())
    fail_run("data set: {} rows of dense features for {} samples", dense_.size(), size());
  if (feature_count_ < dense_.columns())
    fail_run("data set: {} features, but {} dense columns", feature_count_, dense_.columns());
}

Dataset::Dataset(DatasetArrays arrays, std::uint32_t feature_count, std::uint32_t label_count) {
  auto owned = std::make_shared<const DatasetArrays>(std::move(arrays));
  const DatasetView view = view_of(*owned);
  *this = Dataset(std::move(owned), view, feature_count, label_count);
}

std::span<const std::uint32_t> Dataset::sample_labels() const {
  if (size() == 0) return {};
  const std::uint64_t first = label_offsets_.front();
  return label_ids_.subspan(first, label_offsets_[samples()] - first);
}

std::vector<std::uint32_t> Dataset::label_frequencies() const {
  std::vector<std::uint32_t> frequencies(label_count_);
  for (const std::uint32_t label : sample_labels()) ++frequencies[label];
  return frequencies;
}

// Keeps the labels [first, first + count), renumbered from 0. Copies the labels and shares all else.
Dataset Dataset::with_labels(std::size_t first, std::size_t count) const {
  struct Kept {
    std::shared_ptr<const void> features;
    std::vector<std::uint64_t> offsets{0};
    std::vector<std::uint32_t> ids;
  };
  auto kept = std::make_shared<Kept>();
  kept->features = storage_;
  for (std::size_t i = 0; i < size(); ++i) {
    for (const std::uint32_t label : labels(i)) {
      if (label >= first && label < first + count)
        kept->ids.push_back(static_cast<std::uint32_t>(label - first));
    }
    kept->offsets.push_back(kept->ids.size());
  }
  Dataset data = *this;
  data.label_offsets_ = kept->offsets;
  data.label_ids_ = kept->ids;
  data.label_count_ = static_cast<std::uint32_t>(count);
  data.label_weights_ = nullptr;
  data.storage_ = std::move(kept);
  return data;
}

Dataset Dataset::with_dense(DenseRows rows) const {
  if (rows.columns() > 0 && rows.size() != size())
    fail_run("data set: {} rows of dense features for {} samples", rows.size(), size());
  Dataset data = *this;
  data.feature_count_ = static_cast<std::uint32_t>(sparse_count() + rows.columns());
  data.dense_ = std::move(rows);
  return data;
}

Dataset Dataset::with_label_weights(std::shared_ptr<const std::vector<float>> weights) const {
  if (weights != nullptr && weights->size() != label_count_)
    fail_run("data set: {} weights for {} labels", weights->size(), label_count_);
  Dataset data = *this;
  data.label_weights_ = std::move(weights);
  return data;
}

Dataset Dataset::with_keys(std::shared_ptr<const SampleKeys> keys) const {
  if (keys != nullptr) {
    for (const auto* of_samples : {&keys->groups, &keys->times}) {
      if (!of_samples->empty() && of_samples->size() != samples())
        fail_run("data set: keys of {} samples for {}", of_samples->size(), samples());
    }
  }
  Dataset data = *this;
  data.keys_ = std::move(keys);
  return data;
}

Dataset Dataset::with_label_texts(std::size_t count) const {
  if (count > size()) fail_run("data set: {} texts of labels in {} rows", count, size());
  Dataset data = *this;
  data.label_texts_ = count;
  data.keys_ = nullptr;
  return data;
}

// Views rows [first, first + count) of the same arrays. Label texts are the rows from samples() on.
Dataset Dataset::slice(std::size_t first, std::size_t count) const {
  if (first > size() || count > size() - first) {
    fail_run("data set: rows {} to {} asked for, but there are {}", first, first + count, size());
  }
  Dataset part = *this;
  part.keys_ = nullptr;
  if (feature_offsets_.empty()) return part;
  part.feature_offsets_ = feature_offsets_.subspan(first, count + 1);
  part.label_offsets_ = label_offsets_.subspan(first, count + 1);
  if (!weights_.empty()) part.weights_ = weights_.subspan(first, count);
  part.dense_ = dense_.slice(first, count);
  part.label_texts_ = std::min(count, first + count - std::min(first + count, samples()));
  return part;
}

}  // namespace slide
