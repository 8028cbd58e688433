#include "engine/config/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "engine/base/error.h"
#include "engine/config/fields.h"
#include "engine/config/names.h"

namespace slide {

namespace {

using config::Field;
using config::Section;

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The default of a field, and the default of the same field in the last layer where it differs.
std::string default_text(const Field& field, const Field& of_last) {
  const std::string value = config::value_text(field), last = config::value_text(of_last);
  return value == last ? fmt::format("`{}`", value) : fmt::format("`{}`; last layer `{}`", value, last);
}

// Appends the Markdown table of a section's keys. `last`: the same section of the last layer, whose defaults
// may differ; else `section` itself.
void append_reference(std::string& out, const Section& section, const Section& last) {
  fmt::format_to(std::back_inserter(out), "\n## `{}`\n\n", section.heading);
  out += "| Key | Type | Default | Range | Meaning |\n|---|---|---|---|---|\n";
  for (std::size_t f = 0; f < section.fields.size(); ++f) {
    const Field& field = section.fields[f];
    fmt::format_to(std::back_inserter(out), "| `{}` | {} | {} | {} | {} |\n", field.key,
                   config::type_text(field), default_text(field, last.fields[f]), config::range_text(field),
                   replace_all(std::string(field.meaning), "|", "\\|"));
  }
}

void append_keys(std::vector<KeyInfo>& keys, const Section& section, const Section& last) {
  for (std::size_t f = 0; f < section.fields.size(); ++f) {
    const Field& field = section.fields[f];
    const std::string value = config::value_text(field), of_last = config::value_text(last.fields[f]);
    keys.push_back({fmt::format("{}.{}", section.name, field.key), config::type_text(field),
                    config::range_text(field), value, value == of_last ? "" : of_last,
                    std::string(field.meaning)});
  }
}

// "layer.0.hash.k", "layer.-1.hash.k", "layer.N.hash.k" and "layer.hash.k" are one key of the reference;
// "layer.0" is the section "layer".
std::string without_number(std::string_view name) {
  constexpr std::string_view kLayer = "layer";
  if (!name.starts_with("layer.")) return std::string(name);
  const std::size_t first = kLayer.size() + 1, end = std::min(name.find('.', first), name.size());
  const std::string_view number = name.substr(first, end - first);
  const bool numbered =
      number == "N" || (!number.empty() && number.find_first_not_of("-0123456789") == std::string_view::npos);
  return numbered ? std::string(kLayer).append(name.substr(end)) : std::string(name);
}

}  // namespace

std::string config_reference() {
  Config defaults;
  std::string out =
      "# Configuration keys\n\n"
      "A file has the sections below; `[[layer]]` is repeated, in order from the input, each with its own\n"
      "`[layer.hash]`. Every key can be left out, and so can all layers: two are then made of the defaults, "
      "a\n"
      "hidden one and the last. On the command line: `--set train.epochs=3`, `--set layer.0.size=256`,\n"
      "`--set layer.-1.hash.k=6` (the last layer). `[a, b)` holds a but not b.\n";
  for (const Section& section : config::plain_sections(defaults)) append_reference(out, section, section);
  const auto hidden = config::layer_sections(defaults.layers.front(), "layer");
  const auto last = config::layer_sections(defaults.layers.back(), "layer");
  for (std::size_t s = 0; s < hidden.size(); ++s) append_reference(out, hidden[s], last[s]);
  return out;
}

std::vector<KeyInfo> config_keys() {
  Config defaults;
  std::vector<KeyInfo> keys;
  for (const Section& section : config::plain_sections(defaults)) append_keys(keys, section, section);
  const auto hidden = config::layer_sections(defaults.layers.front(), "layer");
  const auto last = config::layer_sections(defaults.layers.back(), "layer");
  for (std::size_t s = 0; s < hidden.size(); ++s) append_keys(keys, hidden[s], last[s]);
  return keys;
}

namespace {

// `wanted`: the name without the number of a layer.
[[noreturn]] void fail_unknown_key(const std::string& name, const std::string& wanted,
                                   const std::vector<std::string>& names) {
  const std::string nearest = config::nearest_name(wanted, names);
  const std::string section = wanted.substr(0, wanted.rfind('.'));
  const bool known =
      std::ranges::any_of(names, [&](const std::string& key) { return key.starts_with(section + '.'); });
  if (known && !nearest.starts_with(section + '.') &&
      2 * config::edit_distance(wanted, nearest) > wanted.size())
    fail_input("there is no key '{}'; 'slide config {}' explains those of its section", name, section);
  fail_input("there is no key '{}'; did you mean '{}'?", name, nearest);
}

}  // namespace

std::vector<KeyInfo> config_keys(const std::string& name) {
  std::string wanted = without_number(name);
  for (const config::Renamed& key : config::renamed_keys()) {
    if (wanted == key.was) wanted = key.is;
  }
  std::vector<KeyInfo> found;
  std::vector<std::string> names;
  for (KeyInfo& key : config_keys()) {
    names.push_back(key.name);
    if (key.name == wanted || key.name.starts_with(wanted + '.')) found.push_back(std::move(key));
  }
  if (found.empty()) fail_unknown_key(name, wanted, names);
  return found;
}

}  // namespace slide
