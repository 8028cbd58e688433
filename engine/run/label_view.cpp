#include "engine/run/label_view.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string_view>

#include "engine/base/error.h"
#include "engine/base/number_text.h"
#include "engine/config/names.h"
#include "engine/crosses/feature_transform.h"
#include "engine/wide/linear_term.h"

namespace slide {

namespace {

// The `count` best, best first; ties by smaller id.
std::vector<Related> best_of(std::vector<Related> all, std::size_t count) {
  count = std::min(count, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                    [](const Related& a, const Related& b) {
                      return a.score != b.score ? a.score > b.score : a.id < b.id;
                    });
  all.resize(count);
  return all;
}

}  // namespace

std::string label_text(const Model& model, std::uint32_t id) {
  return model.text != nullptr ? std::string(model.text->label_name(id)) : std::to_string(id);
}

std::string feature_text(const Model& model, std::uint32_t id) {
  const FeatureCrosses& pairs = crosses_of(model.network);
  if (pairs.active() && id >= pairs.features()) {
    const FeatureCross& pair = pairs.crosses()[id - pairs.features()];
    return feature_text(model, pair.first) + " + " + feature_text(model, pair.second);
  }
  return model.text != nullptr ? model.text->feature_name(id) : std::to_string(id);
}

std::uint32_t find_label(const Model& model, const std::string& name) {
  if (model.text != nullptr) {
    if (const auto id = model.text->label_id(name)) return *id;
    const auto name_of = [&](std::size_t label) {
      return label_text(model, static_cast<std::uint32_t>(label));
    };
    fail_input("--label {}: the model has no such label{}", name,
               config::suggestion(config::near_name(name, model.text->label_count(), name_of)));
  }
  const auto id = number_of<std::uint32_t>(name);
  if (id && *id < model.shape.labels) return *id;
  fail_input("--label {}: the model has no such label; its labels have no names but ids from 0 to {}", name,
             model.shape.labels - 1);
}

// By the cosine of the labels' output weights. O(labels * columns).
std::vector<Related> nearest_labels(const Network& network, std::uint32_t label, std::size_t count) {
  const Parameters& weights = network.output().weights();
  std::vector<float> own(weights.columns), row(weights.columns);
  const auto product = [](const std::vector<float>& a, const std::vector<float>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0, std::plus<>(),
                              [](float x, float y) { return double{x} * double{y}; });
  };
  weights.load_row(label, own.data());
  const double length = std::sqrt(product(own, own));
  std::vector<Related> all;
  for (std::uint32_t other = 0; other < weights.rows; ++other) {
    weights.load_row(other, row.data());
    const double other_length = std::sqrt(product(row, row));
    if (other == label || length == 0 || other_length == 0) continue;
    all.push_back({other, product(own, row) / (length * other_length)});
  }
  return best_of(std::move(all), count);
}

bool has_feature_weights(const Network& network) {
  return linear_term_of(network.output()) != nullptr || (!network.input() && network.layers().size() == 1);
}

// By the label's weights in the linear term, or in an output layer that reads the features, times the
// features' factors.
std::vector<Related> strongest_features(const Network& network, std::uint32_t label, std::size_t count) {
  std::vector<Related> all;
  if (const LinearTerm* wide = linear_term_of(network.output()); wide != nullptr) {
    const auto& storage = wide->storage();
    for (std::uint64_t at = storage.offsets[label]; at < storage.offsets[label + 1]; ++at) {
      all.push_back({storage.features[at], storage.weight(label, at)});
    }
  } else if (has_feature_weights(network)) {
    const Parameters& weights = network.output().weights();
    std::vector<float> row(weights.columns);
    weights.load_row(label, row.data());
    for (std::uint32_t f = 0; f < weights.columns; ++f) all.push_back({f, row[f]});
  }
  if (scale_of(network).active()) {
    const auto factors = scale_of(network).factors();
    for (Related& feature : all) feature.score *= feature.id < factors.size() ? factors[feature.id] : 1.0F;
  }
  return best_of(std::move(all), count);
}

}  // namespace slide
