// `slide inspect MODEL --label NAME`: what a model has learnt about one label.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "engine/base/error.h"
#include "engine/cli/commands.h"
#include "engine/cli/text.h"
#include "engine/config/names.h"
#include "engine/run/model_file.h"

namespace slide::cli {

namespace {

struct Scored {
  std::uint32_t id;
  double score;
};

// The best first; equal scores by smaller id.
std::vector<Scored> best_of(std::vector<Scored> all, std::size_t count) {
  count = std::min(count, all.size());
  std::partial_sort(
      all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
      [](const Scored& a, const Scored& b) { return a.score != b.score ? a.score > b.score : a.id < b.id; });
  all.resize(count);
  return all;
}

std::string label_text(const Model& model, std::uint32_t id) {
  return model.text != nullptr ? std::string(model.text->label_name(id)) : std::to_string(id);
}

std::string feature_text(const Model& model, std::uint32_t id) {
  return model.text != nullptr ? model.text->feature_name(id) : std::to_string(id);
}

std::string nearest_label(const TextModel& text, const std::string& name) {
  std::string_view nearest;
  std::size_t smallest = ~std::size_t{0};
  for (std::uint32_t id = 0; id < text.label_count(); ++id) {
    const std::size_t distance = config::edit_distance(name, text.label_name(id));
    if (distance >= smallest) continue;
    smallest = distance;
    nearest = text.label_name(id);
  }
  return std::string(nearest);
}

// By name where the model has names, else by id.
std::uint32_t find_label(const Model& model, const std::string& name) {
  if (model.text != nullptr) {
    if (const auto id = model.text->label_id(name)) return *id;
    fail_input("--label {}: the model has no such label; the nearest is '{}'", name,
               nearest_label(*model.text, name));
  }
  std::uint32_t id = 0;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, id);
  if (error == std::errc() && stop == end && id < model.shape.labels) return id;
  fail_input("--label {}: the model has no such label; its labels have no names but ids from 0 to {}", name,
             model.shape.labels - 1);
}

// Cosines of the output rows with the label's own.
std::vector<Scored> nearest_labels(const Network& network, std::uint32_t label, std::size_t count) {
  const Parameters& weights = network.output().weights();
  std::vector<float> own(weights.columns), row(weights.columns);
  const auto product = [](const std::vector<float>& a, const std::vector<float>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  weights.load_row(label, own.data());
  const double length = std::sqrt(product(own, own));
  std::vector<Scored> all;
  for (std::uint32_t other = 0; other < weights.rows; ++other) {
    weights.load_row(other, row.data());
    const double other_length = std::sqrt(product(row, row));
    if (other == label || length == 0 || other_length == 0) continue;
    all.push_back({other, product(own, row) / (length * other_length)});
  }
  return best_of(std::move(all), count);
}

// The weights straight from features: of the wide path, or of an output layer that has the features as
// inputs; times what the network multiplies the feature's values by.
std::vector<Scored> strongest_features(const Network& network, std::uint32_t label, std::size_t count) {
  std::vector<Scored> all;
  if (const WidePath* wide = network.output().wide(); wide != nullptr) {
    const auto& storage = wide->storage();
    for (std::uint64_t at = storage.offsets[label]; at < storage.offsets[label + 1]; ++at) {
      all.push_back({storage.features[at], storage.weights[at]});
    }
  } else if (!network.input() && network.layers().size() == 1) {
    const Parameters& weights = network.output().weights();
    std::vector<float> row(weights.columns);
    weights.load_row(label, row.data());
    for (std::uint32_t f = 0; f < weights.columns; ++f) all.push_back({f, row[f]});
  }
  if (network.feature_scale().active()) {
    for (Scored& feature : all) feature.score *= network.feature_scale().factors()[feature.id];
  }
  return best_of(std::move(all), count);
}

bool has_feature_weights(const Network& network) {
  return network.output().wide() != nullptr || (!network.input() && network.layers().size() == 1);
}

}  // namespace

void print_label(const Model& model, const std::string& name, std::size_t count) {
  const std::uint32_t label = find_label(model, name);
  print("label {}: id {}, {} training samples\n", label_text(model, label), label,
        grouped(model.shape.label_frequencies[label]));
  print("nearest labels, by the cosine of their output weights\n");
  for (const Scored& other : nearest_labels(model.network, label, count)) {
    print("{:>9.4f}  {}\n", other.score, label_text(model, other.id));
  }
  if (!has_feature_weights(model.network)) {
    print(
        "strongest features: the model has no wide path (layer.-1.wide), so no weights of its own for a "
        "feature\n");
    return;
  }
  print("strongest features, by their weight on the wide path\n");
  for (const Scored& feature : strongest_features(model.network, label, count)) {
    print("{:>9.4f}  {}\n", feature.score, feature_text(model, feature.id));
  }
}

}  // namespace slide::cli
