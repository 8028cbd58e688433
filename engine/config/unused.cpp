#include "engine/config/unused.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>
#include <utility>

#include "engine/config/fields.h"

namespace slide {
namespace {

using config::Field;
using config::Section;

// Where `holds`, the value of the key `because` leaves `keys` without effect; "layer.1.hash." stands for all
// keys of the section.
struct Rule {
  bool holds;
  std::string because;
  std::vector<std::string> keys;
};

bool is_of(const Rule& rule, const std::string& key) {
  return std::ranges::any_of(rule.keys, [&](const std::string& name) {
    return name.ends_with('.') ? key.starts_with(name) : key == name;
  });
}

std::vector<Rule> plain_rules(const Config& config) {
  const OptimizerKind optimizer = config.optimizer.kind;
  const std::string kind = "optimizer.kind";
  return {
      {config.data.kind == DataKind::kSamples, "data.kind", {"data.mask"}},
      {config.data.label_text.empty(), "data.label_text", {"data.label_text_weight"}},
      {config.text.char_ngrams_max == 0, "text.char_ngrams_max", {"text.char_ngrams_min"}},
      {config.train.init.empty(), "train.init", {"train.expire_labels"}},
      {optimizer != OptimizerKind::kMomentum, kind, {"optimizer.momentum"}},
      {optimizer != OptimizerKind::kAdam, kind, {"optimizer.beta1", "optimizer.beta2"}},
      {optimizer != OptimizerKind::kAdam && optimizer != OptimizerKind::kAdagrad,
       kind,
       {"optimizer.epsilon"}},
      {config.loss.kind != LossKind::kSigmoid, "loss.kind", {"loss.positive_weight", "loss.prior"}},
      {config.neighbours.share == 0,
       "neighbours.share",
       {"neighbours.count", "neighbours.power", "neighbours.cooccurrence", "neighbours.learn",
        "neighbours.mean"}},
  };
}

std::vector<Rule> rules_of_tables(const LayerConfig& layer, const std::string& name) {
  const HashConfig& hash = layer.hash;
  const std::string section = name + ".hash.", family = section + "family", choice = section + "candidates";
  return {
      {hash.family == HashFamily::kSimhash, family, {section + "bin_size"}},
      {hash.family != HashFamily::kSimhash, family, {section + "asymmetric"}},
      {hash.family != HashFamily::kMinhash, family, {section + "topk_ratio"}},
      {hash.candidates != CandidatePolicy::kThreshold, choice, {section + "threshold"}},
      {hash.candidates != CandidatePolicy::kSearch, choice, {section + "queries"}},
      {hash.rehash_steps == 0, section + "rehash_steps", {section + "rehash_share"}},
      {hash.rehash_steps == 0 && hash.rebuild_steps == 0,
       section + "rehash_steps",
       {section + "interval_growth"}},
  };
}

std::vector<Rule> rules_of_layer(const LayerConfig& layer, const std::string& name, LossKind loss) {
  const auto key = [&](const char* text) { return name + text; };
  std::vector<Rule> rules = {
      {!layer.wide,
       key(".wide"),
       {key(".wide_features"), key(".wide_negatives"), key(".wide_rate"), key(".wide_scale"),
        key(".wide_fit"), key(".wide_ridge")}},
      {layer.wide && loss != LossKind::kSigmoid, "loss.kind", {key(".wide_fit")}},
  };
  if (layer.kind == LayerKind::kDense) {
    rules.push_back({true,
                     key(".kind"),
                     {key(".lsh"), key(".uniform"), key(".frequency"), key(".logq_correction"),
                      key(".logq_power"), key(".hash.")}});
    return rules;
  }
  rules.push_back({!layer.logq_correction, key(".logq_correction"), {key(".logq_power")}});
  rules.push_back({layer.lsh == 0, key(".lsh"), {key(".hash.")}});
  if (layer.lsh > 0) std::ranges::move(rules_of_tables(layer, name), std::back_inserter(rules));
  return rules;
}

std::vector<Rule> rules_of(const Config& config) {
  std::vector<Rule> rules = plain_rules(config);
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    const std::string name = config::layer_name(i);
    const bool last = i + 1 == config.layers.size();
    if (last) rules.push_back({true, name, {name + ".activation"}});
    std::ranges::move(rules_of_layer(config.layers[i], name, config.loss.kind), std::back_inserter(rules));
  }
  return rules;
}

bool turns_off(const std::string& value) {
  return value == "0" || value == "0.0" || value == "false";
}

// Full names of the keys whose values differ from those of each configuration in `defaults`, and turn
// something on.
std::vector<std::string> changed_keys(std::span<const Section> sections, std::span<Config> defaults) {
  std::vector<std::vector<Section>> others;
  for (Config& config : defaults) others.push_back(config::all_sections(config));
  std::vector<std::string> changed;
  for (std::size_t s = 0; s < sections.size(); ++s) {
    for (std::size_t f = 0; f < sections[s].fields.size(); ++f) {
      const Field& field = sections[s].fields[f];
      const std::string value = value_text(field);
      const auto has_it = [&](const auto& other) { return value_text(other[s].fields[f]) == value; };
      if (!turns_off(value) && std::ranges::none_of(others, has_it))
        changed.push_back(fmt::format("{}.{}", sections[s].name, field.key));
    }
  }
  return changed;
}

std::string sentence(const Rule& rule, const std::vector<std::string>& keys,
                     std::span<const Section> sections) {
  const Field* because = config::find_field(sections, rule.because);
  return fmt::format("{} {} no effect in training {}", fmt::join(keys, ", "),
                     keys.size() == 1 ? "has" : "have",
                     because == nullptr ? "in the last layer"
                                        : fmt::format("where {} = {}", rule.because, value_text(*because)));
}

}  // namespace

std::vector<std::string> unused_keys(const Config& config, const std::set<std::string>& overridden) {
  Config copy = config;  // fields bind to a mutable object
  std::vector<Config> defaults(1);
  defaults.front().layers = default_layers(config.layers.size());
  if (config.data.kind == DataKind::kInteractions)
    defaults.push_back(suited_to_interactions(defaults.front()));
  const std::vector<Section> sections = config::all_sections(copy);
  const std::vector<std::string> changed = changed_keys(sections, defaults);
  std::vector<std::string> sentences;
  for (const Rule& rule : rules_of(config)) {
    if (!rule.holds) continue;
    const bool turned_off = overridden.contains(rule.because);
    std::vector<std::string> keys;
    std::ranges::copy_if(changed, std::back_inserter(keys), [&](const std::string& key) {
      return is_of(rule, key) && (!turned_off || overridden.contains(key));
    });
    if (!keys.empty()) sentences.push_back(sentence(rule, keys, sections));
  }
  return sentences;
}

}  // namespace slide
