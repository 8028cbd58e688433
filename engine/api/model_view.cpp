// Inspection of a trained model: names, related labels and features, vectors.
#include <slide/model.h>

#include "engine/api/internals.h"
#include "engine/inference/attribution.h"
#include "engine/run/label_view.h"
#include "engine/run/vectors.h"

namespace slide::api {

namespace {

void check_label(const slide::Model& model, std::uint32_t label) {
  if (label >= model.shape.labels)
    fail_input("there is no label {}; the model has {}", label, model.shape.labels);
}

std::vector<Related> converted(const std::vector<slide::Related>& found) {
  std::vector<Related> all;
  for (const slide::Related& one : found) all.push_back({one.id, one.score});
  return all;
}

}  // namespace

std::string Model::feature_name(std::uint32_t feature) const {
  return guarded([&] {
    const slide::Model& model = impl_->model;
    const std::size_t features = model.shape.features;
    if (feature >= features && feature - features < model.shape.crosses) return feature_text(model, feature);
    if (model.text == nullptr) fail_input("the features have no names: the model was not trained on text");
    if (feature >= model.text->feature_count())
      fail_input("there is no feature {}; the model has {}", feature, model.text->feature_count());
    return model.text->feature_name(feature);
  });
}

std::vector<Related> Model::nearest_labels(std::uint32_t label, std::size_t count) const {
  return guarded([&] {
    check_label(impl_->model, label);
    return converted(slide::nearest_labels(impl_->model.network, label, count));
  });
}

std::shared_ptr<const SimilarRows> Model::Impl::similar(bool features, int threads) const {
  const std::lock_guard lock(similar_mutex);
  std::shared_ptr<const SimilarRows>& rows = similar_rows[features ? 1 : 0];
  if (rows != nullptr) return rows;
  const auto made =
      std::make_shared<SimilarRows>(model, features ? SimilarOf::kFeatures : SimilarOf::kLabels, threads);
  made->round_rows(threads);
  rows = made;
  return rows;
}

std::vector<std::vector<Related>> Model::similar(const std::vector<std::uint32_t>& ids, std::size_t count,
                                                 const SimilarOptions& options) const {
  return guarded([&] {
    const std::size_t size =
        options.features ? impl_->model.network.sample_features() : impl_->model.shape.labels;
    for (const std::uint32_t id : ids) {
      if (id >= size)
        fail_input("there is no {} {}; the model has {}", options.features ? "feature" : "label", id, size);
    }
    const auto rows = impl_->similar(options.features, options.threads);
    std::vector<std::vector<Related>> all;
    for (const auto& found : rows->search(ids, count, options.threads)) all.push_back(converted(found));
    return all;
  });
}

std::vector<Related> Model::strongest_features(std::uint32_t label, std::size_t count) const {
  return guarded([&] {
    check_label(impl_->model, label);
    if (!has_feature_weights(impl_->model.network))
      fail_input(
          "the model has no weights straight from features to labels; train it with layer.-1.wide=true");
    return converted(slide::strongest_features(impl_->model.network, label, count));
  });
}

std::vector<std::vector<Related>> Model::explain(const Data& data, const std::vector<std::uint32_t>& labels,
                                                 std::size_t count) const {
  return guarded([&] {
    const slide::Model& model = impl_->model;
    const Dataset rows = scaled_rows(Internals::of(data), model.config.data);
    const std::size_t k = rows.size() == 0 ? 0 : labels.size() / rows.size();
    if (k * rows.size() != labels.size())
      fail_input("{} labels to explain for {} samples; give the same number for each", labels.size(),
                 rows.size());
    for (const std::uint32_t label : labels) {
      if (label != kNoLabel) check_label(model, label);
    }
    Attribution attribution;
    std::vector<std::vector<Related>> all(labels.size());
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (i % k == 0) attribution.begin(model.network, rows, i / k);
      if (labels[i] == kNoLabel) continue;
      for (const FeatureContribution& at : largest(attribution.of(labels[i]), count))
        all[i].push_back({at.feature, at.contribution});
    }
    return all;
  });
}

std::size_t Model::vector_size() const {
  return impl_->model.network.output().inputs();
}

void Model::label_vectors(float* vectors) const {
  for (std::uint32_t label = 0; label < labels(); ++label)
    label_vector(impl_->model, label, {vectors + label * vector_size(), vector_size()});
}

void Model::hidden_vectors(const Data& data, float* vectors, int threads) const {
  guarded([&] {
    const slide::Model& model = impl_->model;
    sample_vectors(model, scaled_rows(Internals::of(data), model.config.data), threads, vectors);
  });
}

}  // namespace slide::api
