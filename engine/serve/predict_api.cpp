#include "engine/serve/predict_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/config/names.h"
#include "engine/config/spellings.h"
#include "engine/inference/reaching.h"
#include "engine/serve/request_samples.h"

namespace slide::serve {

namespace {

using Json = RequestJson;

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;  // of an answer
constexpr std::size_t kRequestBytes = std::size_t{1}
                                      << 17;  // held for a request, beside twice its body, at most

// Parameters common to all inputs of a request.
struct Ask {
  std::size_t k;
  bool has_k = false;       // the request says how many labels it wants
  std::size_t explain = 0;  // features per label
  std::optional<Thresholds> thresholds;
  bool logit = false;
  bool keep_known = false;
  Inference inference;
};

// Parses a value that must be `first` or `second`; returns whether it is `second`.
bool second_of(const Json& value, const char* key, std::string_view first, std::string_view second) {
  const std::string* word = value.get_ptr<const std::string*>();
  if (word == nullptr || (*word != first && *word != second))
    fail_input("{} must be \"{}\" or \"{}\"", key, first, second);
  return *word == second;
}

Inference inference_of(const Json& value) {
  const std::string* word = value.get_ptr<const std::string*>();
  for (const Inference mode : {Inference::kAuto, Inference::kFull, Inference::kLsh})
    if (word != nullptr && *word == spelling(mode)) return mode;
  fail_input("inference must be \"auto\", \"full\" or \"lsh\"");
}

// Parses a key of the whole request; returns false for an unknown key.
bool take_option(const std::string& key, const Json& value, Ask& ask) {
  if (key == "k") {
    ask.k = count_of(value, "k", kMaxK);
    ask.has_k = true;
  } else if (key == "explain") {
    ask.explain = count_of(value, "explain", kMaxFeatures);
  } else if (key == "threshold") {
    if (!value.is_number()) fail_input("threshold must be a number");
    ask.thresholds.emplace(value.get<double>());
  } else if (key == "scores") {
    ask.logit = second_of(value, "scores", "probability", "logit");
  } else if (key == "keep_known") {
    if (!value.is_boolean()) fail_input("keep_known must be true or false");
    ask.keep_known = value.get<bool>();
  } else if (key == "inference") {
    ask.inference = inference_of(value);
  } else {
    return false;
  }
  return true;
}

class Answer {
 public:
  // `data`: the samples to answer; `attribution` explains them. `held`, if given, counts the text; what is
  // held for the request itself is at most `request_bytes`.
  Answer(const ServedModel& model, const Ask& ask, const Dataset& data, Attribution& attribution,
         HeldBytes* held, std::size_t request_bytes)
      : model_(model),
        ask_(ask),
        data_(data),
        attribution_(attribution),
        held_(held),
        request_bytes_(request_bytes) {
    text_ = fmt::format("{{\"model\":\"{}\",", model.fingerprint());
  }

  // Appends a sample's predictions as JSON, and ends a piece of the reply at each kPieceBytes.
  void add_predictions(std::size_t sample, std::span<const Prediction> best) {
    if (ask_.explain > 0) attribution_.begin(model_.model().network, data_, sample);
    text_ += "\"predictions\":[";
    bool first = true;
    for (const Prediction& prediction : best) {
      const double score = score_of(prediction.score);
      if (!reaches(score)) break;  // best first
      if (ask_.thresholds && !reaches_written(score, ask_.thresholds->of(prediction.label))) continue;
      if (first && metrics_ != nullptr && !ask_.logit) metrics_->add_top_score(score);
      text_ += first ? "" : ",";
      first = false;
      if (metrics_ != nullptr) model_.use(prediction.label);
      append_prediction(text_, prediction.label, name_of(prediction.label), score);
      if (ask_.explain > 0)
        append_reasons(text_, model_.model(), attribution_.of(prediction.label), ask_.explain);
      if (text_.size() >= kPieceBytes) end_piece();
    }
    if (first && metrics_ != nullptr) metrics_->add_empty();
    text_ += "]";
  }
  // From now on, counts answers in `metrics`.
  void count(AnswerMetrics* metrics) { metrics_ = metrics; }
  void add(std::string_view text) { text_ += text; }
  ReplyText take() {
    end_piece();
    return std::move(whole_);
  }

  // Whether a score reaches the threshold of some label as it is written.
  bool reaches(double score) const {
    return !ask_.thresholds || reaches_written(score, ask_.thresholds->min());
  }
  double score_of(double score) const {
    return ask_.logit ? score : probability_of(model_.model().config.loss.kind, score);
  }

 private:
  void end_piece() {
    if (held_ != nullptr && !held_->try_set(whole_.size() + text_.size())) {
      if (held_->others() > request_bytes_) throw NoRoom();
      fail_input("the answer has more than {} bytes, see --max-waiting; lower k or send less at once",
                 held_->limit());
    }
    whole_.add(text_);
    text_.clear();
  }
  std::optional<std::string_view> name_of(std::uint32_t label) const {
    if (!model_.names().known()) return std::nullopt;
    return model_.names()[label];
  }

  const ServedModel& model_;
  const Ask& ask_;
  const Dataset& data_;
  Attribution& attribution_;
  HeldBytes* held_;
  std::size_t request_bytes_;
  AnswerMetrics* metrics_ = nullptr;
  ReplyText whole_;
  std::string text_;  // the piece that is being made
};

// Names of other servers for keys of a request.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOtherNames = {
    {{"top_k", "k"},
     {"topk", "k"},
     {"n", "k"},
     {"limit", "k"},
     {"instances", "inputs"},
     {"samples", "inputs"}}};

// Throws for "item" and "items", keys of /similar, and names the key to send instead.
[[noreturn]] void refuse_items(const std::string& key, const RequestSamples& samples) {
  if (samples.of_users()) {
    fail_input(
        "{}: send the items that a user has as \"text\", with blanks or commas between, or the user by name "
        "as "
        "\"user\"",
        key);
  }
  fail_input(
      "{}: the model was not trained on interactions and has no items; send \"{}\" (/similar takes \"{}\")",
      key, samples.of_texts() ? "text" : "features", key);
}

[[noreturn]] void refuse_key(const std::string& key, const Json& value, const RequestSamples& samples) {
  if (key == "item" || key == "items") refuse_items(key, samples);
  std::vector<std::string> known = {"text",      "features", "user",      "inputs",     "k",
                                    "threshold", "scores",   "inference", "keep_known", "explain"};
  if (!samples.dense_key().empty()) known.emplace(known.begin() + 1, samples.dense_key());
  const auto* const other = std::ranges::find(kOtherNames, key, [](const auto& pair) { return pair.first; });
  std::string near(other != kOtherNames.end() ? other->second : config::near_name(key, known));
  if (near == "text" && value.is_array()) near = "inputs";
  refuse_unknown_key(key, near, known);
}

// Parses the request; returns its list of inputs, or nullptr for a single input.
const Json* take_request(const Json& request, RequestSamples& samples, Ask& ask) {
  if (request.is_array()) return &request;
  if (!request.is_object()) fail_input("the body must be an object as {{\"text\": \"...\"}}");
  const Json* inputs = nullptr;
  RequestSamples::Parts parts;
  int kinds = 0;
  std::set<std::string_view> given;
  for (const auto& [key, value] : request.items()) {
    if (!given.insert(key).second) fail_input("'{}' is given twice; give it once", shown_part(key));
    if (key == "text" || key == "features" || key == "inputs") {
      ++kinds;
      if (key == "text") parts.text = &value;
      if (key == "features") parts.features = &value;
      if (key == "inputs") inputs = &value;
    } else if (key == "user") {
      parts.user = &value;
    } else if (samples.is_dense_key(key)) {
      parts.dense = &value;
    } else if (!take_option(key, value, ask)) {
      refuse_key(key, value, samples);
    }
  }
  if (inputs != nullptr && parts.user != nullptr) fail_input("name users within \"inputs\"");
  if (inputs != nullptr && parts.dense != nullptr)
    fail_input("give '{}' within \"inputs\"", samples.dense_key());
  const bool named_features =
      parts.text != nullptr && parts.features != nullptr && samples.is_dense_key("features");
  kinds -= named_features ? 1 : 0;
  if (kinds != 1 && !(kinds == 0 && parts.user != nullptr))
    fail_input("give one of \"text\", \"features\", \"user\" and \"inputs\"");
  if (inputs == nullptr) samples.add(parts);
  if (inputs != nullptr && !inputs->is_array()) fail_input("inputs must be a list");
  return inputs;
}

void add_inputs(const Json& inputs, RequestSamples& samples) {
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

// Refuses what this model or server cannot do, and a threshold that is no probability.
void check_ask(const Ask& ask, const ServedModel& model) {
  if (model.predictor(ask.inference == Inference::kLsh ? Inference::kLsh : Inference::kFull) == nullptr)
    fail_input("the server was not started with --inference lsh; leave inference out");
  if (ask.keep_known && model.model().config.data.kind != DataKind::kInteractions)
    fail_input("keep_known: the model was not trained on interactions; leave it out");
  const std::string fault = probability_fault(ask.logit || !ask.thresholds ? 0 : ask.thresholds->all());
  if (!fault.empty()) fail_input("threshold: {}, or any number with \"scores\": \"logit\"", fault);
}

void check_size(const Ask& ask, std::size_t inputs) {
  if (inputs * ask.k > kMaxAnswers)
    fail_input("{} inputs with k = {} make more than {} labels; lower k or send less at once", inputs, ask.k,
               kMaxAnswers);
  if (ask.explain > 0 && inputs * ask.k > kMaxExplained)
    fail_input("explain: {} inputs with k = {} make more than {} labels; lower k or send less at once",
               inputs, ask.k, kMaxExplained);
}

// Adds how many features, samples and users the model knows nothing of, where there are any.
void add_counts(const RequestSamples& samples, Answer& answer) {
  const auto add = [&](const char* key, std::size_t count) {
    if (count > 0) answer.add(fmt::format("\"{}\":{},", key, count));
  };
  add("unknown_features", samples.unknown());
  add("samples_without_features", samples.without_features());
  add("users_without_items", samples.without_items());
}

// For each sample, all labels that reach their thresholds, best first.
using Found = std::vector<std::vector<Prediction>>;

Found all_reaching(const Answer& answer, const Dataset& data, const Predictor::Wanted& wanted,
                   std::size_t labels, const PredictCall& call) {
  Found found(data.size());
  predict_reaching(
      data, wanted, {labels, kMaxAnswers},
      [&](float score) { return answer.reaches(answer.score_of(score)); }, call,
      [&](std::size_t sample, auto best) { found[sample].assign(best.begin(), best.end()); });
  return found;
}

void check_found(const Found& found, bool explained) {
  std::size_t all = 0;
  for (const auto& best : found) all += best.size();
  const std::size_t limit = explained ? kMaxExplained : kMaxAnswers;
  if (all > limit)
    fail_input("{}: {} labels reach it, but an answer has {} at most; raise it, give k, or send less at once",
               explained ? "threshold with explain" : "threshold", all, limit);
}

}  // namespace

std::string json_string(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

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

// Reopens the object that `text` ends with.
void append_reasons(std::string& text, const Model& model, std::span<const FeatureContribution> parts,
                    std::size_t limit) {
  text.back() = ',';
  text += "\"because\":[";
  bool first = true;
  for (const FeatureContribution& at : largest(parts, limit)) {
    text += first ? "" : ",";
    first = false;
    const std::uint64_t id = std::uint64_t{at.feature} + (model.config.data.one_based ? 1 : 0);
    fmt::format_to(std::back_inserter(text), "{{\"id\":{},", id);
    if (model.text != nullptr)
      text += "\"feature\":" + json_string(model.text->feature_name(at.feature)) + ",";
    fmt::format_to(std::back_inserter(text), "\"part\":{:.4g}}}", at.contribution);
  }
  text += "]}";
}

std::string error_json(std::string_view message) {
  return fmt::format("{{\"error\":{}}}", json_string(message));
}

PredictAnswer answer_predict(std::string_view body, const ServedModel& model, std::size_t default_k,
                             HeldBytes* held, AnswerMetrics* metrics) {
  const Json request = parse_request(body);
  ServedModel::Lease space(model);
  RequestSamples samples(model.model(), model.users(), *space);
  Ask ask{.k = default_k, .thresholds = {}, .inference = model.inference()};
  const Json* inputs = take_request(request, samples, ask);
  if (inputs != nullptr) add_inputs(*inputs, samples);
  check_ask(ask, model);
  const Dataset data = samples.take();
  ask.k = std::min(ask.k, model.model().network.labels());
  if (!ask.has_k && !ask.thresholds && !ask.logit) ask.thresholds = model.model().thresholds;
  const bool reaching = ask.thresholds && !ask.has_k;
  if (!reaching) check_size(ask, data.size());
  const Predictor::Wanted wanted = {ask.k, !ask.logit && is_normalised(model.model().config.loss.kind),
                                    ask.keep_known, reaching};
  const Inference inference = model.resolved(ask.inference, wanted);
  const Predictor* predictor = model.predictor(inference);
  Predictor::Scratch& scratch = inference == Inference::kLsh ? (*space).lsh : (*space).full;
  Answer answer(model, ask, data, (*space).attribution, held, 2 * body.size() + kRequestBytes);
  answer.count(metrics);
  if (metrics != nullptr) metrics->add_unknown(samples.unknown());
  const auto call = [&](const Dataset& rows, const Predictor::Wanted& asked, const Predictor::Sink& sink) {
    predictor->predict(rows, asked, scratch, sink);
  };
  const auto write = [&](std::size_t sample, std::span<const Prediction> best) {
    if (inputs != nullptr) answer.add(sample == 0 ? "{" : ",{");
    if (const auto& user = samples.user(sample)) answer.add("\"user\":" + json_string(*user) + ",");
    answer.add_predictions(sample, best);
    if (inputs != nullptr) answer.add("}");
  };
  add_counts(samples, answer);
  if (inputs != nullptr) answer.add("\"results\":[");
  if (reaching) {
    const Found found = all_reaching(answer, data, wanted, model.model().network.labels(), call);
    check_found(found, ask.explain > 0);
    for (std::size_t sample = 0; sample < found.size(); ++sample) write(sample, found[sample]);
  } else {
    call(data, wanted, write);
  }
  answer.add(inputs != nullptr ? "]}" : "}");
  return {answer.take(), data.size()};
}

}  // namespace slide::serve
