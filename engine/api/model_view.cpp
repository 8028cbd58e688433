// What a model has learnt, for whoever looks inside.
#include <slide/model.h>

#include <algorithm>

#include "engine/api/internals.h"
#include "engine/base/parallel.h"
#include "engine/run/label_view.h"

namespace slide::api {

namespace {

constexpr std::size_t kVectorsAtOnce = 128;

void check_label(const slide::Model& model, std::uint32_t label) {
  if (label >= model.shape.labels)
    fail_input("there is no label {}; the model has {}", label, model.shape.labels);
}

std::vector<Related> told(const std::vector<slide::Related>& found) {
  std::vector<Related> all;
  for (const slide::Related& one : found) all.push_back({one.id, one.score});
  return all;
}

std::size_t most_entries(const Dataset& rows) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) most = std::max(most, rows.features(i).ids.size());
  return most;
}

// What one thread passes samples through the hidden layers with.
struct Pass {
  Pass(const Network& network, std::size_t entries)
      : block(network.make_inference_block(kVectorsAtOnce, entries)),
        scratch(network.make_inference_scratch(kVectorsAtOnce, entries)) {}

  void run(const Network& network, const Dataset& rows, std::size_t first, float* vectors) {
    const std::size_t end = std::min(first + kVectorsAtOnce, rows.size()), size = network.output().inputs();
    block.clear_samples();
    for (std::size_t i = first; i < end; ++i) network.add_sample(rows, i, block);
    block.lanes = kVectorsAtOnce;
    const BlockInput hidden = network.infer_hidden(block, scratch);
    for (std::size_t i = first; i < end; ++i) {
      for (std::size_t unit = 0; unit < size; ++unit)
        vectors[i * size + unit] = hidden.xt[unit * hidden.lanes + (i - first)];
    }
  }

  Block block;
  ThreadScratch scratch;
};

}  // namespace

std::string Model::feature_name(std::uint32_t feature) const {
  return guarded([&] {
    const slide::Model& model = impl_->model;
    if (model.text == nullptr) fail_input("the features have no names: the model was not trained on text");
    if (feature >= model.text->feature_count())
      fail_input("there is no feature {}; the model has {}", feature, model.text->feature_count());
    return model.text->feature_name(feature);
  });
}

std::vector<Related> Model::nearest_labels(std::uint32_t label, std::size_t count) const {
  return guarded([&] {
    check_label(impl_->model, label);
    return told(slide::nearest_labels(impl_->model.network, label, count));
  });
}

std::vector<Related> Model::strongest_features(std::uint32_t label, std::size_t count) const {
  return guarded([&] {
    check_label(impl_->model, label);
    if (!has_feature_weights(impl_->model.network))
      fail_input(
          "the model has no weights straight from features to labels; train it with layer.-1.wide=true");
    return told(slide::strongest_features(impl_->model.network, label, count));
  });
}

std::size_t Model::vector_size() const {
  return impl_->model.network.output().inputs();
}

void Model::label_vectors(float* vectors) const {
  const Parameters& weights = impl_->model.network.output().weights();
  for (std::size_t label = 0; label < labels(); ++label)
    weights.load_row(label, vectors + label * weights.columns);
}

void Model::hidden_vectors(const Data& data, float* vectors, int threads) const {
  guarded([&] {
    const Network& network = impl_->model.network;
    if (!network.input() && network.layers().size() == 1)
      fail_input("the model has no hidden layer: its labels are scored from the features themselves");
    const Dataset rows = scaled_rows(Internals::of(data), impl_->model.config.data);
    if (rows.feature_count() > network.features())
      fail_input("the data have {} features, the model {}", rows.feature_count(), network.features());
    const std::size_t blocks = (rows.size() + kVectorsAtOnce - 1) / kVectorsAtOnce;
    const auto used = std::min<std::size_t>(static_cast<std::size_t>(resolve_threads(threads)), blocks);
    const std::size_t entries = kVectorsAtOnce * most_entries(rows);
    std::vector<Pass> passes;
    for (std::size_t t = 0; t < used; ++t) passes.emplace_back(network, entries);
    parallel_for(blocks, static_cast<int>(used), [&](std::size_t block, int thread) {
      passes[static_cast<std::size_t>(thread)].run(network, rows, block * kVectorsAtOnce, vectors);
    });
  });
}

}  // namespace slide::api
