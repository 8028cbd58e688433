#include "engine/serve/predict_api.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/byte_io.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/config/spellings.h"

namespace slide::serve {

namespace {

using Json = nlohmann::json;

// Parameters common to all inputs of a request.
struct Ask {
  std::size_t k;
  std::size_t explain = 0;  // features per label
  std::optional<double> threshold;
  bool logit = false;
  bool keep_known = false;
  Inference inference;
};

std::string json_string(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json parse(std::string_view body) {
  if (nests_too_deep(body))
    fail_input("the body is nested more than {} deep; send an object as {{\"text\": \"...\"}}", kMaxNesting);
  try {
    return Json::parse(body);
  } catch (const Json::parse_error& error) {
    fail_input("the body is no JSON (byte {}); send an object as {{\"text\": \"...\"}}", error.byte);
  } catch (const Json::exception&) {  // a number out of range
    fail_input("the body holds a number out of range; send numbers that fit a double");
  }
}

// Parses a value that must be `first` or `second`; returns whether it is `second`.
bool second_of(const Json& value, const char* key, std::string_view first, std::string_view second) {
  const std::string* word = value.get_ptr<const std::string*>();
  if (word == nullptr || (*word != first && *word != second))
    fail_input("{} must be \"{}\" or \"{}\"", key, first, second);
  return *word == second;
}

std::size_t count_of(const Json& value, const char* key, std::size_t most) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 || value.get<std::uint64_t>() > most)
    fail_input("{} must be a whole number from 1 to {}", key, most);
  return value.get<std::size_t>();
}

// Parses a key of the whole request; returns false for an unknown key.
bool take_option(const std::string& key, const Json& value, Ask& ask) {
  if (key == "k") {
    ask.k = count_of(value, "k", kMaxK);
  } else if (key == "explain") {
    ask.explain = count_of(value, "explain", kMaxFeatures);
  } else if (key == "threshold") {
    if (!value.is_number()) fail_input("threshold must be a number");
    ask.threshold = value.get<double>();
  } else if (key == "scores") {
    ask.logit = second_of(value, "scores", "probability", "logit");
  } else if (key == "keep_known") {
    if (!value.is_boolean()) fail_input("keep_known must be true or false");
    ask.keep_known = value.get<bool>();
  } else if (key == "inference") {
    const bool lsh = second_of(value, "inference", spelling(Inference::kFull), spelling(Inference::kLsh));
    ask.inference = lsh ? Inference::kLsh : Inference::kFull;
  } else {
    return false;
  }
  return true;
}

// Converts the inputs of a request to a data set.
class Samples {
 public:
  Samples(const Model& model, Workspace& space) : model_(model), space_(space) {}

  void add(const Json& input) {
    if (input.is_string()) return add_text(input);
    if (!input.is_object() || input.size() != 1)
      fail_input("an input must be a string, {{\"text\": ...}} or {{\"features\": ...}}");
    const auto only = input.begin();
    if (only.key() == "text") return add_text(only.value());
    if (only.key() == "features") return add_features(only.value());
    fail_input("unknown key '{}'; an input has \"text\" or \"features\"", shown_part(only.key()));
  }

  void add_text(const Json& value) {
    const std::string* text = value.get_ptr<const std::string*>();
    if (text == nullptr) fail_input("text must be a string");
    if (model_.text == nullptr)
      fail_input("the model was trained on features, not on text; send {{\"features\": {{\"ID\": VALUE}}}}");
    Row& row = space_.row;
    split_plain(*text, model_.text->form(), space_.parts);
    model_.text->features_of(space_.parts.text, model_.config.data.normalize, space_.tokenizer, row);
    append(row.feature_count);
  }

  void add_features(const Json& value) {
    pairs_.clear();
    if (value.is_array() && is_dense()) {
      add_columns(value);
    } else if (value.is_object()) {
      for (const auto& [key, number] : value.items()) add_pair(id_of(key), number);
    } else if (value.is_array()) {
      for (const Json& entry : value) add_entry(entry);
    } else {
      fail_input("features must be an object as {{\"12\": 0.5}} or a list of [id, value] pairs");
    }
    merge_pairs();
  }

  Dataset take() {
    const std::size_t rows = arrays_.feature_offsets.size() - 1;
    arrays_.label_offsets.assign(rows + 1, 0);
    Dataset data(std::move(arrays_), sparse(), static_cast<std::uint32_t>(model_.network.labels()));
    if (dense_.empty() || dense_.size() != rows * columns()) return data;
    const auto kept = std::make_shared<const std::vector<float>>(std::move(dense_));
    const DenseMatrix matrix{bytes_of(*kept), DenseType::kFloat32, rows, columns()};
    return data.with_dense({kept, matrix, model_.config.data.normalize, 1, "features"});
  }

 private:
  std::size_t columns() const { return model_.shape.dense; }
  std::uint32_t sparse() const {
    return static_cast<std::uint32_t>(model_.network.sample_features() - columns());
  }
  bool is_dense() const { return columns() > 0 && sparse() == 0; }

  // A list of numbers, one per dense column.
  void add_columns(const Json& value) {
    if (value.size() != columns())
      fail_input("features are {} numbers, but the model has {} dense columns", value.size(), columns());
    for (std::size_t c = 0; c < value.size(); ++c) add_pair(first_id() + c, value[c]);
  }

  // Moves the dense columns, which have the last ids, out of the workspace's row.
  void take_dense() {
    if (columns() == 0) return;
    Row& row = space_.row;
    const std::size_t first = dense_.size();
    dense_.resize(first + columns());
    for (; !row.ids.empty() && row.ids.back() >= sparse(); row.ids.pop_back(), row.values.pop_back())
      dense_[first + row.ids.back() - sparse()] = row.values.back();
  }

  std::uint64_t first_id() const { return model_.config.data.one_based ? 1 : 0; }

  std::uint64_t id_of(const std::string& key) const {
    std::uint64_t id = 0;
    const char* end = key.data() + key.size();
    const auto [stop, error] = std::from_chars(key.data(), end, id);
    if (error != std::errc() || stop != end)
      fail_input("'{}' is no feature id; ids are whole numbers", shown_part(key));
    return id;
  }

  std::uint64_t id_of(const Json& id) const {
    if (!id.is_number_unsigned()) fail_input("{} is no feature id; ids are whole numbers", shown(id));
    return id.get<std::uint64_t>();
  }

  void add_entry(const Json& entry) {
    static const Json one = 1;
    if (!entry.is_array()) return add_pair(id_of(entry), one);
    if (entry.size() != 2) fail_input("a feature in a list must be an id or an [id, value] pair");
    add_pair(id_of(entry[0]), entry[1]);
  }

  void add_pair(std::uint64_t id, const Json& value) {
    const std::uint64_t first = first_id(), end = first + model_.network.sample_features();
    if (id < first || id >= end)
      fail_input("feature {}: the model knows the ids {} to {}", id, first, end - 1);
    const float number = value.is_number() ? static_cast<float>(value.get<double>()) : NAN;
    if (!std::isfinite(number)) fail_input("feature {}: the value must be a number that fits a float", id);
    pairs_.emplace_back(static_cast<std::uint32_t>(id - first), number);
  }

  // Names a list or an object instead of printing it: its size is unbounded.
  static std::string shown(const Json& value) {
    if (value.is_structured()) return value.is_array() ? "a list" : "an object";
    if (value.is_string()) return fmt::format("'{}'", shown_part(value.get_ref<const std::string&>()));
    return value.dump();
  }

  void merge_pairs() {
    std::stable_sort(pairs_.begin(), pairs_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    Row& row = space_.row;
    row.ids.clear();
    row.values.clear();
    for (const auto& [id, value] : pairs_) {
      if (!row.ids.empty() && row.ids.back() == id) {
        row.values.back() += value;
        if (!std::isfinite(row.values.back()))
          fail_input("feature {}: its values add up to no float", id + first_id());
      } else {
        row.ids.push_back(id);
        row.values.push_back(value);
      }
    }
    take_dense();
    if (model_.config.data.normalize) scale_to_unit_length(row.values.data(), row.values.size());
    append(row.ids.size());
  }

  // Appends the sample in the workspace's row.
  void append(std::size_t count) {
    const Row& row = space_.row;
    const auto entries = static_cast<std::ptrdiff_t>(count);
    arrays_.feature_ids.insert(arrays_.feature_ids.end(), row.ids.begin(), row.ids.begin() + entries);
    arrays_.feature_values.insert(arrays_.feature_values.end(), row.values.begin(),
                                  row.values.begin() + entries);
    arrays_.feature_offsets.push_back(arrays_.feature_ids.size());
  }

  const Model& model_;
  Workspace& space_;
  DatasetArrays arrays_;
  std::vector<std::pair<std::uint32_t, float>> pairs_;
  std::vector<float> dense_;  // rows of dense columns, one after another
};

class Answer {
 public:
  // `data`: the samples to answer; `attribution` explains them.
  Answer(const ServedModel& model, const Ask& ask, const Dataset& data, Attribution& attribution)
      : model_(model), ask_(ask), data_(data), attribution_(attribution) {
    text_ = fmt::format("{{\"model\":\"{}\",", model.fingerprint());
  }

  void add_predictions(std::size_t sample, std::span<const Prediction> best) {
    if (ask_.explain > 0) attribution_.begin(model_.model().network, data_, sample);
    text_ += "\"predictions\":[";
    bool first = true;
    for (const Prediction& prediction : best) {
      const double score = score_of(prediction.score);
      if (ask_.threshold && score < *ask_.threshold) break;  // best first
      text_ += first ? "" : ",";
      first = false;
      append_prediction(text_, prediction.label, name_of(prediction.label), score);
      if (ask_.explain > 0) add_reasons(prediction.label);
    }
    text_ += "]";
  }
  void add(std::string_view text) { text_ += text; }
  std::string take() { return std::move(text_); }

 private:
  // Appends to the last written prediction.
  void add_reasons(std::uint32_t label) {
    text_.back() = ',';
    text_ += "\"because\":[";
    const Model& model = model_.model();
    bool first = true;
    for (const FeaturePart& at : largest(attribution_.of(label), ask_.explain)) {
      text_ += first ? "" : ",";
      first = false;
      const std::uint64_t id = std::uint64_t{at.feature} + (model.config.data.one_based ? 1 : 0);
      fmt::format_to(std::back_inserter(text_), "{{\"id\":{},", id);
      if (model.text != nullptr)
        text_ += "\"feature\":" + json_string(model.text->feature_name(at.feature)) + ",";
      fmt::format_to(std::back_inserter(text_), "\"part\":{:.4g}}}", at.part);
    }
    text_ += "]}";
  }

  std::optional<std::string_view> name_of(std::uint32_t label) const {
    if (!model_.names().known()) return std::nullopt;
    return model_.names()[label];
  }

  double score_of(double score) const {
    return ask_.logit ? score : probability_of(model_.model().config.loss.kind, score);
  }

  const ServedModel& model_;
  const Ask& ask_;
  const Dataset& data_;
  Attribution& attribution_;
  std::string text_;
};

// Parses the request; returns its list of inputs, or nullptr for a single input.
const Json* take_request(const Json& request, Samples& samples, Ask& ask) {
  if (request.is_array()) return &request;
  if (!request.is_object()) fail_input("the body must be an object as {{\"text\": \"...\"}}");
  const Json* inputs = nullptr;
  int kinds = 0;
  for (const auto& [key, value] : request.items()) {
    if (key == "text" || key == "features" || key == "inputs") {
      ++kinds;
      if (key == "text") samples.add_text(value);
      if (key == "features") samples.add_features(value);
      if (key == "inputs") inputs = &value;
    } else if (!take_option(key, value, ask)) {
      fail_input(
          "unknown key '{}'; known are text, features, inputs, k, threshold, scores, inference, keep_known, "
          "explain",
          shown_part(key));
    }
  }
  if (kinds != 1) fail_input("give one of \"text\", \"features\" and \"inputs\"");
  if (inputs != nullptr && !inputs->is_array()) fail_input("inputs must be a list");
  return inputs;
}

void add_inputs(const Json& inputs, Samples& samples) {
  if (inputs.size() > kMaxInputs)
    fail_input("{} inputs; send at most {} in one request", inputs.size(), kMaxInputs);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    try {
      samples.add(inputs[i]);
    } catch (const InputError& error) {
      fail_input("inputs[{}]: {}", i, error.what());
    }
  }
}

}  // namespace

void append_prediction(std::string& text, std::uint32_t id, std::optional<std::string_view> name,
                       double score) {
  fmt::format_to(std::back_inserter(text), "{{\"id\":{},", id);
  if (name) text += "\"label\":" + json_string(*name) + ",";
  if (std::isfinite(score)) {
    fmt::format_to(std::back_inserter(text), "\"score\":{:.6g}}}", score);
  } else {
    text += "\"score\":null}";
  }
}

std::string error_json(std::string_view message) {
  return fmt::format("{{\"error\":{}}}", json_string(message));
}

PredictAnswer answer_predict(std::string_view body, const ServedModel& model, std::size_t default_k) {
  const Json request = parse(body);
  ServedModel::Lease space(model);
  Samples samples(model.model(), *space);
  Ask ask{.k = default_k, .threshold = {}, .inference = model.inference()};
  const Json* inputs = take_request(request, samples, ask);
  if (inputs != nullptr) add_inputs(*inputs, samples);
  const Predictor* predictor = model.predictor(ask.inference);
  if (predictor == nullptr)
    fail_input("the server was not started with --inference lsh; leave inference out");
  if (ask.keep_known && !predictor->of_items())
    fail_input("keep_known: the model was not trained on interactions; leave it out");
  const Dataset data = samples.take();
  ask.k = std::min(ask.k, model.model().network.labels());
  if (data.size() * ask.k > kMaxAnswers)
    fail_input("{} inputs with k = {} make more than {} labels; lower k or send less at once", data.size(),
               ask.k, kMaxAnswers);
  if (ask.explain > 0 && data.size() * ask.k > kMaxExplained)
    fail_input("explain: {} inputs with k = {} make more than {} labels; lower k or send less at once",
               data.size(), ask.k, kMaxExplained);
  const Predictor::Wanted wanted = {ask.k, !ask.logit && needs_log_softmax(model.model().config.loss.kind),
                                    ask.keep_known};
  Predictor::Scratch& scratch = ask.inference == Inference::kLsh ? (*space).lsh : (*space).full;
  Answer answer(model, ask, data, (*space).attribution);
  if (inputs == nullptr) {
    predictor->predict(data, wanted, scratch,
                       [&](std::size_t sample, auto best) { answer.add_predictions(sample, best); });
    answer.add("}");
    return {answer.take(), data.size()};
  }
  answer.add("\"results\":[");
  predictor->predict(data, wanted, scratch, [&](std::size_t sample, auto best) {
    answer.add(sample == 0 ? "{" : ",{");
    answer.add_predictions(sample, best);
    answer.add("}");
  });
  answer.add("]}");
  return {answer.take(), data.size()};
}

}  // namespace slide::serve
