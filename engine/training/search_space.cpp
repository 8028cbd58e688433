#include "engine/training/search_space.h"

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/base/number_text.h"
#include "engine/config/fields.h"
#include "engine/config/spellings.h"

namespace slide {

namespace {

// The key of an override as SearchKey::key has it: without spaces, layers counted from the input.
std::string plain_key(const std::string& text, std::size_t layers) {
  const std::string key(key_of(text));
  const std::string last = "layer.-1.";
  const bool from_back = key.rfind(last, 0) == 0;
  std::string plain = from_back ? "layer." + std::to_string(layers - 1) + "." + key.substr(last.size()) : key;
  std::erase_if(plain, [](char c) { return c == ' '; });
  return plain;
}

// A value of an enum as TOML.
template <class E>
std::string quoted(E value) {
  return config::quote(spelling(value));
}

// All values of an enum as TOML.
template <class E>
std::vector<std::string> all_quoted() {
  std::vector<std::string> all;
  for (const std::string_view text : spellings_of(E{})) all.push_back(config::quote(std::string(text)));
  return all;
}

// All keys of the search, the key with the largest expected gain first: {key, values, down_early,
// costs_time, needs}.
std::vector<SearchKey> all_keys(const Config& start) {
  const std::size_t layers = start.layers.size();
  const std::string out = "layer." + std::to_string(layers - 1) + ".", wide = out + "wide=true";
  const std::string sigmoid = "loss.kind=" + quoted(LossKind::kSigmoid);
  const std::string sampled = out + "kind=" + quoted(LayerKind::kSampled);
  const std::string adagrad = "optimizer.kind=" + quoted(OptimizerKind::kAdagrad);
  const std::string not_fitted = out + "wide_fit=0.0";
  // SearchKey::down_early and costs_time.
  constexpr bool early = true, late = false, shorter = true, same = false;
  std::vector<SearchKey> keys = {
      {"data.idf_power", {"-1.0", "-0.5", "0.0", "0.5", "1.0", "2.0"}, early, same, {}},
      {"train.epochs", {"1", "2", "3", "4", "6", "8", "12"}, early, shorter, {}},
      {out + "logq_correction", {"false", "true"}, early, same, {sampled}},
      {"optimizer.learning_rate", {"0.02", "0.05", "0.1", "0.2"}, early, same, {}},
      {"neighbours.share", {"0.0", "0.1", "0.25", "0.4", "0.55", "0.7"}, early, same, {}},
      {"optimizer.epsilon", {"1e-08", "0.001", "0.01", "0.1"}, late, same, {adagrad}},
      {"layer.0.size", {"64", "128", "256", "512"}, late, shorter, {}},
      {"data.crosses", {"0", "8", "32"}, early, shorter, {"data.kind!=\"interactions\""}},
      {out + "wide_rate", {"0.3", "0.7", "1.5", "3.0", "6.0"}, early, same, {wide}},
      {out + "wide_fit", {"0.0", "0.25", "0.5", "0.75", "1.0"}, early, same, {wide, sigmoid}},
      {out + "wide_margin",
       {config::quote("auto"), "0.0", "1.0"},
       early,
       same,
       {wide, sigmoid, "data.kind!=\"interactions\""}},
      {out + "wide_scale", {"0.5", "1.0", "3.0", "6.0", "12.0"}, early, same, {wide, not_fitted}},
      {"layer.0.dropout", {"0.0", "0.2", "0.4"}, late, same, {}},
      {"loss.prior", {"0.0", "0.25", "0.5", "0.75", "1.0"}, early, same, {sigmoid, not_fitted}},
      {"neighbours.power", {"2.0", "3.0", "4.0", "6.0", "10.0"}, early, same, {"neighbours.share!=0.0"}},
      {"neighbours.cooccurrence", {"0.0", "0.1", "0.25", "0.4"}, early, same, {"neighbours.share!=0.0"}},
      {out + "wide_negatives", {"0", "16", "64"}, late, shorter, {wide}},
      {out + "wide_features", {"128", "1024", "8192"}, late, shorter, {wide}},
      {out + "uniform", {"128", "256", "512", "1024", "2048"}, late, shorter, {sampled}},
      {out + "lsh", {"64", "256", "512"}, late, shorter, {sampled}},
      {"loss.kind", all_quoted<LossKind>(), early, same, {}},
      {out + "wide", {"false", "true"}, early, shorter, {}},
  };
  std::erase_if(keys, [&](const SearchKey& k) {
    return (layers == 1 && (k.key == "layer.0.size" || k.key == "layer.0.dropout")) ||
           (k.key == out + "lsh" && start.layers.back().lsh == 0);
  });
  return keys;
}

// The next number above (`up`) or below `present` in ascending `values`; nullopt at the end.
std::optional<std::string> next_number(const std::vector<std::string>& values, double present, bool up) {
  if (up) {
    const auto found =
        std::find_if(values.begin(), values.end(), [&](auto& v) { return *number_of<double>(v) > present; });
    return found == values.end() ? std::nullopt : std::optional(*found);
  }
  const auto found =
      std::find_if(values.rbegin(), values.rend(), [&](auto& v) { return *number_of<double>(v) < present; });
  return found == values.rend() ? std::nullopt : std::optional(*found);
}

// The value after (`up`) or before `present`: numbers by size, other values by their position.
std::optional<std::string> next_value(const std::vector<std::string>& values, const std::string& present,
                                      bool up) {
  if (const std::optional<double> number = number_of<double>(present))
    return next_number(values, *number, up);
  const auto found = std::find(values.begin(), values.end(), present);
  if (found == values.end() || (up ? found + 1 == values.end() : found == values.begin()))
    return std::nullopt;
  return *(up ? found + 1 : found - 1);
}

// Whether the configuration meets `need`: "key=value" or "key!=value".
bool meets(const Config& config, std::string_view need) {
  const std::size_t equals = need.find('=');
  const bool negated = need[equals - 1] == '!';
  const bool equal = value_of(config, need.substr(0, equals - (negated ? 1 : 0))) == need.substr(equals + 1);
  return equal != negated;
}

}  // namespace

SearchSpace::SearchSpace(const Config& start, const std::vector<std::string>& fixed)
    : keys_(all_keys(start)) {
  std::set<std::string> kept;
  for (const std::string& text : fixed) kept.insert(plain_key(text, start.layers.size()));
  std::erase_if(keys_, [&](const SearchKey& k) { return kept.contains(k.key); });
  if (keys_.empty()) fail_input("every key that the search may change is given; leave one of them out");
}

// Keys in order, upwards; keys whose smaller values are as promising in both directions at once, the faster
// one first. The remaining downward moves come last.
std::vector<Move> SearchSpace::sweep() const {
  std::vector<Move> moves;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    const bool shorter_first = keys_[k].down_early && keys_[k].costs_time;
    moves.push_back({k, !shorter_first});
    if (keys_[k].down_early) moves.push_back({k, shorter_first});
  }
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    if (!keys_[k].down_early) moves.push_back({k, false});
  }
  return moves;
}

std::vector<Move> SearchSpace::savings() const {
  std::vector<Move> moves;
  for (std::size_t k = 0; k < keys_.size(); ++k) {
    if (keys_[k].costs_time) moves.push_back({k, false});
  }
  return moves;
}

std::optional<std::string> SearchSpace::step(const Config& config, const Move& move) const {
  const SearchKey& key = keys_[move.key];
  if (!has_effect(config, key.key)) return std::nullopt;
  Config used = config;
  used.layers.back().wide_rate = used_wide_rate(config.layers.back(), config.train.epochs);
  const std::optional<std::string> value = next_value(key.values, value_of(used, key.key), move.up);
  if (!value) return std::nullopt;
  return key.key + "=" + *value;
}

std::optional<std::string> SearchSpace::known(std::string_view change, const Config& config) const {
  const std::string key = plain_key(std::string(change), config.layers.size());
  const auto found = std::find_if(keys_.begin(), keys_.end(), [&](auto& k) { return k.key == key; });
  if (found == keys_.end()) return std::nullopt;
  return key + std::string(change.substr(key_of(change).size()));
}

bool SearchSpace::has_effect(const Config& config, std::string_view change) const {
  const auto found =
      std::find_if(keys_.begin(), keys_.end(), [&](auto& k) { return k.key == key_of(change); });
  if (found == keys_.end()) return true;
  return std::all_of(found->needs.begin(), found->needs.end(),
                     [&](const std::string& need) { return meets(config, need); });
}

std::string_view key_of(std::string_view change) {
  return change.substr(0, change.find('='));
}

std::string value_of(const Config& config, std::string_view key) {
  Config bound = config;  // fields bind to mutable objects
  const std::optional<config::Field> field = config::find_field(bound, key);
  return field ? config::value_text(*field) : "";
}

std::vector<std::string> with_change(std::vector<std::string> changes, const std::string& change,
                                     const Config& start) {
  const std::string_view key = key_of(change);
  std::erase_if(changes, [&](const std::string& c) { return key_of(c) == key; });
  if (value_of(start, key) != change.substr(key.size() + 1)) changes.push_back(change);
  std::sort(changes.begin(), changes.end());
  return changes;
}

}  // namespace slide
