#include "engine/cli/inspect_json.h"

#include <nlohmann/json.hpp>

#include "engine/cli/convert_model.h"
#include "engine/config/spellings.h"
#include "engine/inference/auto_inference.h"
#include "engine/run/dense_column.h"
#include "engine/run/label_view.h"

namespace slide::cli {

namespace {

using Json = nlohmann::ordered_json;

std::uint64_t whole_bytes(double bytes) {
  return static_cast<std::uint64_t>(bytes);
}

const char* name_of_form(TextForm form) {
  if (has_items(form)) return form == TextForm::kItemLists ? "lists" : "pairs";
  return form == TextForm::kTabs ? "tsv" : "fasttext";
}

}  // namespace

Json json_of(const Config& config, const MemoryPlan& plan, bool guessed) {
  Json layers = Json::array();
  for (std::size_t l = 0; l < plan.layers.size(); ++l) {
    const LayerPlan& layer = plan.layers[l];
    layers.push_back({{"inputs", layer.inputs},
                      {"neurons", layer.neurons},
                      {"kind", spelling(config.layers[l].kind)},
                      {"parameters", whole_bytes(layer.parameters)},
                      {"weights_bytes", whole_bytes(layer.weights)},
                      {"optimizer_bytes", whole_bytes(layer.state)},
                      {"tables_bytes", whole_bytes(layer.tables)}});
  }
  const double inference = plan.weights() + plan.neighbours;
  const Json memory = {{"parameters", whole_bytes(plan.parameters())},
                       {"weights_bytes", whole_bytes(plan.weights())},
                       {"optimizer_bytes", whole_bytes(plan.state())},
                       {"tables_bytes", whole_bytes(plan.tables())},
                       {"neighbours_bytes", whole_bytes(plan.neighbours)},
                       {"workspaces_bytes", whole_bytes(plan.workspaces())},
                       {"regression_bytes", whole_bytes(plan.regression)},
                       {"training_bytes", whole_bytes(plan.training())},
                       {"inference_bytes", whole_bytes(inference)},
                       {"inference_with_tables_bytes", whole_bytes(inference + plan.tables())},
                       {"guessed", guessed}};
  return {{"layers", layers},
          {"memory", memory},
          {"inference", spelling(resolved_inference(config, plan.layers.back().neurons))},
          {"inference_asked", spelling(config.eval.inference)}};
}

Json json_of(const Model& model, const std::string& path) {
  const DataShape& shape = model.shape;
  Json json = {{"model", path},
               {"format", model.version},
               {"steps", model.steps},
               {"samples", shape.samples},
               {"features", shape.features},
               {"labels", shape.labels},
               {"dense_columns", shape.dense},
               {"dense_column", dense_column_name(model.config.data)},
               {"pairs", shape.crosses},
               {"idf_power", model.config.data.idf_power},
               {"text", nullptr},
               {"neighbours", nullptr},
               {"threshold", nullptr},
               {"label_thresholds", 0},
               {"calibration", nullptr},
               {"optimizer_state", model.has_optimizer_state},
               {"form", form_name(model.form)},
               {"file", json_of(model.bytes)}};
  if (model.text != nullptr) json["text"] = name_of_form(model.text->form());
  if (model.thresholds) {
    json["threshold"] = model.thresholds->all();
    json["label_thresholds"] = model.thresholds->own().size();
  }
  if (model.calibration) json["calibration"] = json_of(*model.calibration);
  if (model.neighbours) {
    json["neighbours"] = {{"count", model.config.neighbours.count},
                          {"samples", model.neighbours->samples()},
                          {"share", model.config.neighbours.share}};
  }
  return json;
}

namespace {
Json most_frequent(const DataLook& look) {
  Json labels = Json::array();
  for (const auto& [name, samples] : look.frequent) labels.push_back({{"label", name}, {"samples", samples}});
  return labels;
}
}  // namespace

Json json_of_label_list(const DataLook& look) {
  return {{"labels", most_frequent(look)}};
}

Json json_of(const DataLook& look) {
  return {{"form", look.form},
          {"columns", look.columns},
          {"samples", look.samples},
          {"unlabelled", look.unlabelled},
          {"labels", look.labels},
          {"labels_once", look.labels_once},
          {"label_entries", look.label_entries},
          {"most_frequent", most_frequent(look)},
          {"features", look.features},
          {"dense_columns", look.dense},
          {"dense_column", look.dense_column},
          {"feature_entries", look.feature_entries},
          {"featureless", look.featureless},
          {"groups", look.groups},
          {"times", look.times},
          {"first_time", look.first_time.empty() ? Json() : Json(look.first_time)},
          {"last_time", look.last_time.empty() ? Json() : Json(look.last_time)},
          {"warnings", look.warnings}};
}

Json json_of_tables(const Model& model) {
  Json tables = Json::array();
  const auto& layers = model.network.layers();
  const std::size_t first = model.config.layers.size() - layers.size();
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const lsh::NeuronIndex* index = layers[l].index();
    if (index == nullptr) continue;
    const lsh::Occupancy occupancy = index->occupancy();
    tables.push_back({{"layer", first + l},
                      {"tables", index->config().tables},
                      {"buckets", occupancy.buckets},
                      {"used_buckets", occupancy.used_buckets},
                      {"full_buckets", occupancy.full_buckets},
                      {"stored", occupancy.stored},
                      {"largest_bucket", occupancy.largest_bucket},
                      {"filed", occupancy.filed},
                      {"filed_in_full", occupancy.filed_in_full},
                      {"histogram", occupancy.histogram},
                      {"bytes", index->bytes()}});
  }
  return tables;
}

Json json_of_label_list(const Model& model) {
  Json labels = Json::array();
  for (std::uint32_t label = 0; label < model.shape.labels; ++label)
    labels.push_back({{"label", label_text(model, label)},
                      {"id", label},
                      {"samples", model.shape.label_frequencies[label]}});
  return {{"labels", labels}};
}

Json json_of_labels(const Model& model, const std::vector<std::string>& names, std::size_t count) {
  Json labels = Json::array();
  for (const std::string& name : names) {
    const std::uint32_t label = find_label(model, name);
    Json json = {{"label", label_text(model, label)},
                 {"id", label},
                 {"samples", model.shape.label_frequencies[label]},
                 {"nearest", Json::array()},
                 {"features", nullptr}};
    for (const Related& other : nearest_labels(model.network, label, count))
      json["nearest"].push_back(
          {{"label", label_text(model, other.id)}, {"id", other.id}, {"cosine", other.score}});
    if (has_feature_weights(model.network)) {
      json["features"] = Json::array();
      for (const Related& feature : strongest_features(model.network, label, count))
        json["features"].push_back(
            {{"feature", feature_text(model, feature.id)}, {"id", feature.id}, {"weight", feature.score}});
    }
    labels.push_back(std::move(json));
  }
  return {{"labels", labels}};
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace slide::cli
