#include "datasets/rows/sample_weights.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>

#include "datasets/rows/file_bytes.h"
#include "datasets/rows/sample_lines.h"
#include "datasets/rows/split.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/base/number_text.h"

namespace slide {

namespace {

// Rows with separate weights.
struct WeightedStorage {
  Dataset rows;
  std::vector<float> weights;
};

}  // namespace

std::optional<float> weight_in(std::string_view text) {
  const auto weight = number_of<float>(text);
  return weight && std::isfinite(*weight) && *weight >= 0 ? weight : std::nullopt;
}

std::vector<float> read_weights(const std::string& path, std::size_t count, const std::string& data) {
  const FileBytes file(path);
  return parse_weights(file.text(), path, count, data, "samples");
}

// One weight per line, for each of `count` samples or labels (`things`).
std::vector<float> parse_weights(std::string_view text, const std::string& path, std::size_t count,
                                 const std::string& data, std::string_view things) {
  std::vector<float> weights;
  weights.reserve(count);
  for_each_sample_line(text, path, count, "weight", things, data,
                       [&](std::string_view line, std::size_t number) {
                         const std::optional<float> weight = weight_in(line);
                         if (!weight)
                           fail_input("{}:{}: the weight '{}' is no number from 0 on; give one a line", path,
                                      number, shown_part(line));
                         weights.push_back(*weight);
                       });
  return weights;
}

Dataset with_weights(const Dataset& data, std::vector<float> weights) {
  const auto storage = std::make_shared<WeightedStorage>(WeightedStorage{data, std::move(weights)});
  DatasetView view = storage->rows.view();
  view.weights = storage->weights;
  const Dataset weighted(storage, view, data.feature_count(), data.label_count());
  return data.label_texts() == 0 ? weighted.with_keys(data.keys()) : weighted;
}

// Leaves out samples of weight 0 and scales the weights of the others to a mean of 1.
Dataset weighted_rows(const Dataset& data, std::span<const float> weights) {
  if (weights.size() != data.size())
    fail_input("weights: there are {} for {} samples", weights.size(), data.size());
  const auto at =
      std::ranges::find_if(weights, [](float weight) { return !(weight >= 0) || std::isinf(weight); });
  if (at != weights.end()) {
    fail_input("weights: that of sample {} is {}; give numbers that are not negative", at - weights.begin(),
               *at);
  }
  std::vector<std::uint32_t> kept;
  double sum = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    kept.push_back(static_cast<std::uint32_t>(i));
    sum += weights[i];
  }
  if (kept.empty()) fail_input("weights: all are 0; give some samples one");
  std::vector<float> scaled;
  for (const std::uint32_t i : kept)
    scaled.push_back(static_cast<float>(weights[i] * double(kept.size()) / sum));
  return with_weights(kept.size() == data.size() ? data : copy_rows(data, kept), std::move(scaled));
}

}  // namespace slide
