#include "engine/serve/similar_api.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/config/names.h"
#include "engine/serve/request_json.h"

namespace slide::serve {

namespace {

constexpr std::size_t kDefaultSimilar = 10;

struct SimilarItem {
  std::string asked;
  bool known = true;
};

struct SimilarAsk {
  const ServedModel::Similar* among = nullptr;
  std::vector<std::uint32_t> ids;  // of the items that are known
  std::vector<SimilarItem> items;
  std::size_t k = kDefaultSimilar;
  bool several = false;

  std::size_t unknown() const { return items.size() - ids.size(); }
};

// Finds the item of a request by name or number; unknown ones are kept to be answered as unknown.
void add_item(const RequestJson& value, SimilarAsk& ask) {
  const SimilarNames& names = ask.among->names;
  std::string item;
  if (const auto* name = value.get_ptr<const std::string*>()) {
    item = *name;
  } else if (names.named() ? value.is_number_integer() : value.is_number_unsigned()) {
    item = value.dump();  // also of a name, as of a user in /predict
  } else {
    fail_input("an item must be {}", names.named() ? "a name" : "a number");
  }
  const auto id = names.find(item);
  if (id) ask.ids.push_back(*id);
  ask.items.push_back({std::move(item), id.has_value()});
}

void add_items(const RequestJson& value, SimilarAsk& ask) {
  if (!value.is_array()) fail_input("items must be a list");
  if (value.size() > kMaxInputs)
    fail_input("{} items; send at most {} in one request", value.size(), kMaxInputs);
  for (const RequestJson& item : value) add_item(item, ask);
  ask.several = true;
}

// The index that a request searches: its member "of", by default labels.
const ServedModel::Similar& asked_among(const RequestJson& request, const ServedModel& model) {
  SimilarOf of = SimilarOf::kLabels;
  for (const auto& [key, value] : request.items()) {
    if (key != "of") continue;
    if (value != "labels" && value != "features") fail_input("of must be \"labels\" or \"features\"");
    of = value == "labels" ? SimilarOf::kLabels : SimilarOf::kFeatures;
  }
  const ServedModel::Similar* among = model.similar(of);
  if (among == nullptr)
    fail_input("the server was not started with {}",
               of == SimilarOf::kLabels ? "--similar" : "--similar-features");
  return *among;
}

// Parses {"item" or "items", "of", "k"}.
SimilarAsk parse_similar(const RequestJson& request, const ServedModel& model) {
  if (!request.is_object()) fail_input("the body must be an object as {{\"item\": \"...\", \"k\": 10}}");
  SimilarAsk ask;
  ask.among = &asked_among(request, model);
  int kinds = 0;
  for (const auto& [key, value] : request.items()) {
    if (key == "item") {
      ++kinds;
      add_item(value, ask);
    } else if (key == "items") {
      ++kinds;
      add_items(value, ask);
    } else if (key == "k") {
      ask.k = count_of(value, "k", kMaxK);
    } else if (key != "of") {
      static const std::vector<std::string> known = {"item", "items", "of", "k"};
      refuse_unknown_key(key, config::near_name(key, known), known);
    }
  }
  if (kinds != 1) fail_input("give one of \"item\" and \"items\"");
  if (ask.ids.empty() && !ask.items.empty())
    fail_input("{}", ask.among->names.fault_of(ask.items.front().asked));
  if (ask.ids.size() * ask.k > kMaxAnswers)
    fail_input("{} items with k = {} make more than {} labels; lower k or send less at once", ask.ids.size(),
               ask.k, kMaxAnswers);
  return ask;
}

// Adds name and score once more under the keys "name" and "cosine", which `slide similar --json` had before.
void add_names_of_command(std::string& text, const std::string& name, bool named, double cosine) {
  text.back() = ',';
  if (named) text += "\"name\":" + json_string(name) + ",";
  text += std::isfinite(cosine) ? fmt::format("\"cosine\":{:.6g}}}", cosine) : "\"cosine\":null}";
}

std::string list_of(const std::vector<Related>& similar, const SimilarNames& names) {
  std::string text = "\"similar\":[";
  for (const Related& one : similar) {
    if (text.back() != '[') text += ',';
    const std::string name = names.named() ? names.name_of(one.id) : "";
    append_prediction(text, one.id, names.named() ? std::optional<std::string_view>(name) : std::nullopt,
                      one.score);
    add_names_of_command(text, name, names.named(), one.score);
  }
  return text + "]";
}

std::string error_of(const std::string& item, const SimilarNames& names, bool suggest) {
  return "\"similar\":[],\"error\":" + json_string(names.fault_of(item, suggest));
}

}  // namespace

// One object for "item", a list "results" for "items"; unknown items get an error of their own.
PredictAnswer answer_similar(std::string_view body, const ServedModel& model, HeldBytes* held) {
  if (!model.similar(SimilarOf::kLabels) && !model.similar(SimilarOf::kFeatures))
    fail_input("the server was not started with --similar");
  const SimilarAsk ask = parse_similar(parse_request(body), model);
  const auto found = ask.among->rows.search(ask.ids, ask.k, 1);
  std::string text = fmt::format("{{\"model\":\"{}\",", model.fingerprint());
  if (ask.unknown() > 0) text += fmt::format("\"unknown_items\":{},", ask.unknown());
  if (ask.several) text += "\"results\":[";
  std::size_t known = 0, unknown = 0;
  for (const SimilarItem& item : ask.items) {
    if (ask.several) text += text.back() == '[' ? "{" : ",{";
    text += fmt::format("\"item\":{},", json_string(item.asked));
    text += item.known ? list_of(found[known++], ask.among->names)
                       : error_of(item.asked, ask.among->names, unknown++ < kMaxSuggested);
    if (ask.several) text += "}";
  }
  text += ask.several ? "]}" : "}";
  if (held != nullptr && !held->try_set(text.size())) throw NoRoom();
  return {ReplyText(text), ask.ids.size()};
}

}  // namespace slide::serve
