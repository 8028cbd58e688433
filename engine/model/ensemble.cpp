#include "engine/model/ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "engine/crosses/feature_transform.h"
#include "engine/model/model_file.h"
#include "engine/model/output_files.h"
#include "engine/wide/linear_term.h"

namespace slide {

namespace {

// Keys that determine a model's input and output.
bool is_same(std::string_view key) {
  static constexpr std::array<std::string_view, 6> kSame = {
      "data.kind", "data.normalize", "data.idf_power", "loss.kind", "layer.0.activation", "layer.1.wide"};
  return std::ranges::find(kSame, key) != kSame.end() || key.starts_with("text.") ||
         key.starts_with("neighbours.");
}

// Throws for models that cannot be averaged: other layers, or quantized weights.
void check_layers(const Model& model, const std::string& name) {
  const std::size_t layers = model.config.layers.size();
  if (layers != 2 || !model.network.input()) {
    fail_input("{}: only networks of one hidden layer of kind \"dense\" are averaged; this one has {} layers",
               name, layers);
  }
  if (model.form != ModelForm::kPlain) {
    fail_input("{}: this is a small form; average the models that it and its like were made of", name);
  }
}

std::string text_of(const Model& model) {
  return model.text == nullptr ? "" : model.text->to_bytes();
}

bool same_samples(const std::optional<Neighbours>& a, const std::optional<Neighbours>& b) {
  if (!a || !b) return !a && !b;
  return a->storage().features == b->storage().features && a->storage().labels == b->storage().labels;
}

// Checks that the models have the same input and output.
void check_same(const Model& first, const std::string& first_name, const Model& other,
                const std::string& name) {
  const auto fail = [&](const std::string& why) {
    fail_input("{} and {} {}; average models of the same data and configuration", first_name, name, why);
  };
  const DataShape &a = first.shape, &b = other.shape;
  if (a.features != b.features || a.labels != b.labels || a.dense != b.dense)
    fail(
        fmt::format("have {} and {} features, {} and {} labels", a.features, b.features, a.labels, b.labels));
  if (first.network.labels() != other.network.labels())
    fail(fmt::format("have output layers of {} and {} neurons (layer.-1.size)", first.network.labels(),
                     other.network.labels()));
  if (a.samples != b.samples || a.label_frequencies != b.label_frequencies)
    fail("were trained on other samples");
  if (text_of(first) != text_of(other)) fail("have other words or names");
  if (const auto key = first_changed_key(first.config, other.config, is_same))
    fail(fmt::format("differ in '{} {} = {}'", key->heading, key->key, key->before));
  if (!same_samples(first.neighbours, other.neighbours)) fail("were trained on other samples");
  const auto own = crosses_of(first.network).crosses(), theirs = crosses_of(other.network).crosses();
  if (!std::ranges::equal(own, theirs)) fail("have other feature crosses (data.crosses)");
  if (!std::ranges::equal(scale_of(first.network).factors(), scale_of(other.network).factors()))
    fail("have other factors of features");
}

// Builds the combined network, one model after another.
class EnsembleNetwork {
 public:
  EnsembleNetwork(const Config& config, const DataShape& shape, std::size_t models)
      : network_(config, shape), share_(1.0F / static_cast<float>(models)) {
    wide_.offsets.assign(network_.labels() + 1, 0);
  }

  // Appends the hidden units of `model` to the units of the models added before; output weights and biases
  // are scaled by 1 / models.
  void add(const Model& model) {
    const InputLayer& input = *model.network.input();
    put(input.weights(), 1.0F, units_, network_.input()->weights());
    put(input.bias(), 1.0F, units_, network_.input()->bias());
    put(model.network.output().weights(), share_, units_, network_.output().weights());
    put(model.network.output().bias(), share_, 0, network_.output().bias());
    if (const LinearTerm* wide = linear_term_of(model.network.output()); wide != nullptr)
      add_wide(wide->storage());
    units_ += input.size();
  }

  // Completes the network with the first model's feature crosses and factors, and the mean linear term.
  Network finish(const Network& first) {
    set_crosses(network_, crosses_of(first));
    set_scale(network_, scale_of(first));
    if (linear_term_of(first.output()) != nullptr) {
      auto wide = std::make_unique<LinearTerm>(network_.output().config());
      wide->storage() = std::move(wide_);
      network_.output().set_term(std::move(wide));
    }
    return std::move(network_);
  }

 private:
  // Adds `share` times each row of a matrix to another matrix, from a column on.
  void put(const Parameters& from, float share, std::size_t column, Parameters& to) {
    added_.resize(from.columns);
    row_.resize(to.columns);
    for (std::size_t r = 0; r < to.rows; ++r) {
      from.load_row(r, added_.data());
      to.load_row(r, row_.data());
      for (std::size_t c = 0; c < from.columns; ++c) row_[column + c] += share * added_[c];
      if (to.is_bf16()) {
        to.store_row(r, row_.data());
      } else {
        std::copy(row_.begin(), row_.end(), to.row(r));
      }
    }
  }

  // A neuron's pattern becomes the union of the models' patterns.
  void add_wide(const LinearTerm::Storage& more) {
    std::vector<std::uint32_t> features;
    std::vector<float> weights;
    std::vector<std::uint64_t> offsets{0};
    for (std::size_t n = 0; n + 1 < more.offsets.size(); ++n) {
      std::uint64_t a = wide_.offsets[n], b = more.offsets[n];
      while (a < wide_.offsets[n + 1] || b < more.offsets[n + 1]) {
        const std::uint32_t of_a = a < wide_.offsets[n + 1] ? wide_.features[a] : UINT32_MAX,
                            of_b = b < more.offsets[n + 1] ? more.features[b] : UINT32_MAX;
        float weight = 0.0F;
        if (of_a <= of_b) weight += wide_.weights[a++];
        if (of_b <= of_a) weight += share_ * more.weights[b++];
        features.push_back(std::min(of_a, of_b));
        weights.push_back(weight);
      }
      offsets.push_back(features.size());
    }
    wide_.offsets = std::move(offsets);
    wide_.features = AlignedArray<std::uint32_t>(features.size());
    wide_.weights = AlignedArray<float>(weights.size());
    std::ranges::copy(features, wide_.features.data());
    std::ranges::copy(weights, wide_.weights.data());
  }

  Network network_;
  float share_;
  std::size_t units_ = 0;  // of the models added so far
  LinearTerm::Storage wide_;
  std::vector<float> row_, added_;
};

// What the ensemble does not keep, because it belongs to the scores of this model alone.
void note_dropped(const Model& model, const std::string& name, std::vector<std::string>& notes) {
  if (model.thresholds) {
    notes.push_back(fmt::format(
        "{}: its thresholds are dropped, for an ensemble has other scores; find them anew by slide "
        "evaluate, and store them by slide convert --threshold",
        name));
  }
  if (model.calibration) {
    notes.push_back(
        fmt::format("{}: its calibration is dropped, for an ensemble has other scores; fit one anew by slide "
                    "convert --calibrate",
                    name));
  }
}

}  // namespace

// Loads the models one after another: memory holds the first, one other and the result.
EnsembleResult make_ensemble(const EnsembleOptions& options) {
  check_model_out({"--out", options.out}, options.models, "average.slide", options.replace);
  if (options.models.size() < 2) fail_input("{}: one model alone; name two or more", options.models.front());
  std::size_t units = 0;
  for (const std::string& name : options.models) units += load_model_config(name).layers.front().size;
  const Model first = load_model(options.models.front());
  check_layers(first, options.models.front());
  Config config = first.config;
  config.layers.front().size = static_cast<std::uint32_t>(units);
  EnsembleNetwork network(config, first.shape, options.models.size());
  network.add(first);
  EnsembleResult result{units, 0, {}, first.notes};
  note_dropped(first, options.models.front(), result.notes);
  for (std::size_t m = 1; m < options.models.size(); ++m) {
    const Model other = load_model(options.models[m]);
    check_layers(other, options.models[m]);
    check_same(first, options.models.front(), other, options.models[m]);
    note_dropped(other, options.models[m], result.notes);
    network.add(other);
  }
  const Network average = network.finish(first.network);
  save_model(options.out, {config,
                           first.shape,
                           {average, first.trained().neighbours},
                           nullptr,
                           first.steps,
                           first.text.get(),
                           first.unseen_runs,
                           ModelForm::kPlain,
                           &first.hashes});
  if (const LinearTerm* wide = linear_term_of(average.output()); wide != nullptr)
    result.wide_weights = wide->weights();
  result.bytes = load_model(options.out).bytes;
  return result;
}

}  // namespace slide
