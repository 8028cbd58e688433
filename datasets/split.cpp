#include "datasets/split.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "datasets/shuffle.h"
#include "engine/base/error.h"

namespace slide {

Dataset copy_rows(const Dataset& data, std::span<const std::uint32_t> samples) {
  DatasetArrays arrays;
  std::size_t features = 0, labels = 0;
  for (const std::uint32_t i : samples) {
    features += data.features(i).ids.size();
    labels += data.labels(i).size();
  }
  arrays.feature_offsets.reserve(samples.size() + 1);
  arrays.label_offsets.reserve(samples.size() + 1);
  arrays.feature_ids.reserve(features);
  arrays.feature_values.reserve(features);
  arrays.label_ids.reserve(labels);
  for (const std::uint32_t i : samples) {
    const SparseRow row = data.features(i);
    const auto of_sample = data.labels(i);
    arrays.feature_ids.insert(arrays.feature_ids.end(), row.ids.begin(), row.ids.end());
    arrays.feature_values.insert(arrays.feature_values.end(), row.values.begin(), row.values.end());
    arrays.label_ids.insert(arrays.label_ids.end(), of_sample.begin(), of_sample.end());
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
    arrays.label_offsets.push_back(arrays.label_ids.size());
    if (!data.weights().empty()) arrays.weights.push_back(data.weights()[i]);
  }
  const auto texts = std::ranges::count_if(samples, [&](std::uint32_t i) { return i >= data.samples(); });
  return Dataset(std::move(arrays), data.sparse_count(), data.label_count())
      .with_label_texts(static_cast<std::size_t>(texts))
      .with_dense(data.dense().chosen(samples))
      .with_label_weights_of(data);
}

Split split_dataset(const Dataset& data, double share, std::size_t most, std::uint64_t seed,
                    std::size_t fold) {
  std::vector<std::uint32_t> order(data.samples()), train, validation;
  shuffle_order(order, seed, 0);  // training counts its epochs from 1
  const auto labelled = static_cast<std::size_t>(
      std::count_if(order.begin(), order.end(), [&](std::uint32_t i) { return !data.labels(i).empty(); }));
  if (labelled < 2) {
    fail_input("a validation split needs two samples with labels, the training data has {}", labelled);
  }
  const auto wanted = static_cast<std::size_t>(share * static_cast<double>(labelled));
  const std::size_t taken = std::clamp<std::size_t>(std::min(wanted, most), 1, labelled - 1);
  const std::size_t first = std::min(fold * taken, labelled - taken);
  std::size_t met = 0;  // samples with labels so far
  for (const std::uint32_t i : order) {
    const bool validates = !data.labels(i).empty() && met >= first && met < first + taken;
    (validates ? validation : train).push_back(i);
    met += data.labels(i).empty() ? 0 : 1;
  }
  std::sort(train.begin(), train.end());
  for (std::size_t i = data.samples(); i < data.size(); ++i) train.push_back(static_cast<std::uint32_t>(i));
  std::sort(validation.begin(), validation.end());
  return {copy_rows(data, train), copy_rows(data, validation)};
}

}  // namespace slide
