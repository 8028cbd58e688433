#include "engine/config/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "engine/base/error.h"
#include "engine/config/names.h"
#include "engine/config/rules.h"
#include "engine/config/toml_values.h"

namespace slide::config {
namespace {

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// The values below `node` with full names such as "layer.0.hash.k".
void list_values(const std::string& name, const toml::node& node, TomlEntries& values) {
  if (const toml::table* table = node.as_table()) {
    for (const auto& [key, value] : in_file_order(*table))
      list_values(name.empty() ? key : fmt::format("{}.{}", name, key), *value, values);
  } else if (node.is_array_of_tables()) {
    const toml::array& tables = *node.as_array();
    for (std::size_t i = 0; i < tables.size(); ++i)
      list_values(fmt::format("{}.{}", name, i), tables[i], values);
  } else {
    values.emplace_back(name, &node);
  }
}

// Current name of a key.
std::string present_name(const std::string& name, std::span<const Renamed> renamed) {
  constexpr std::string_view kLayer = "layer";
  std::string plain = name, number;  // "layer.0.hash.k" is "layer.hash.k" and ".0"
  if (name.starts_with("layer.")) {
    const std::size_t end = std::min(name.find('.', kLayer.size() + 1), name.size());
    number = name.substr(kLayer.size(), end - kLayer.size());
    plain.erase(kLayer.size(), number.size());
  }
  const auto found = std::ranges::find(renamed, plain, &Renamed::was);
  if (found == renamed.end()) return name;
  std::string present(found->is);
  if (present.starts_with("layer.")) present.insert(kLayer.size(), number);
  return present;
}

// `count` layers of default values, except the last, which is kept.
std::vector<LayerConfig> layers_like(const std::vector<LayerConfig>& base, std::size_t count) {
  std::vector<LayerConfig> layers = default_layers(count);
  if (count > 0 && !base.empty()) layers.back() = base.back();
  return layers;
}

// Sets keys missing in `stored` to their meaning before they existed.
void fill_missing(std::span<const Section> sections, const std::set<std::string>& stored,
                  const std::string& origin, std::vector<std::string>& notes) {
  for (const Section& section : sections) {
    for (const Field& field : section.fields) {
      const std::string name = fmt::format("{}.{}", section.name, field.key);
      if (stored.contains(name)) continue;
      if (field.before.empty()) {
        notes.push_back(
            one_line(fmt::format("{}: '{}' is missing; it is taken as {}", origin, name, value_text(field))));
      } else {
        set_field(field, *parse_toml_value(origin, field.before).get("v"), origin, name);
      }
    }
  }
}

}  // namespace

// Walks the TOML tree with access to the parser's state.
struct Parser::TomlAccess {
  Parser& parser;

  std::string where(const toml::node& node) const { return parser.place(node.source().begin.line); }

  const toml::table& as_table(const toml::node& node, const std::string& name,
                              std::string_view heading) const {
    if (const toml::table* table = node.as_table()) return *table;
    fail_at(where(node), fmt::format("'{}' must be a table; write {}", name, heading));
  }

  [[noreturn]] void fail_unknown(const toml::node& node, const std::string& name) const {
    if (!node.is_table() && !node.is_array_of_tables()) parser.fail_unknown_key(where(node), name);
    fail_at(where(node), fmt::format("unknown section '{}'; did you mean '{}'?", name,
                                     nearest_name(name, parser.names_of_sections())));
  }

  // Sets the field of a key, which may have an old name. A field that is set under two names is an error.
  void read_value(const Section& section, const std::string& key, const toml::node& node) const {
    const std::string written = fmt::format("{}.{}", section.name, key);
    const std::string name = present_name(written, renamed_keys());
    const Field* field = find_field(section, std::string_view(name).substr(section.name.size() + 1));
    if (field == nullptr) fail_unknown(node, written);
    set_field(*field, node, where(node), written);
    if (name != written) parser.note_old_name(where(node), written, name);
    if (const auto [place, first] = parser.places_.emplace(name, where(node)); !first) {
      fail_at(where(node), fmt::format("'{}' is set at {} too, under another name; leave one out", written,
                                       place->second));
    }
  }

  void read_section(const Section& section, const toml::node& node) const {
    for (const auto& [key, value] : in_file_order(as_table(node, section.name, section.heading))) {
      read_value(section, key, *value);
    }
  }

  void read_layer(std::size_t index, const toml::node& node) const {
    const auto sections = layer_sections(parser.config_.layers[index], layer_name(index));
    for (const auto& [key, value] : in_file_order(as_table(node, layer_name(index), "[[layer]]"))) {
      if (key == "hash") {
        read_section(sections[1], *value);
      } else {
        read_value(sections[0], key, *value);
      }
    }
  }

  void read_layers(const toml::node& node) const {
    const toml::array* layers = node.as_array();
    if (layers == nullptr)
      fail_at(where(node), "a layer begins with [[layer]], in two brackets; its [layer.hash] stands below");
    for (std::size_t i = 0; i < layers->size(); ++i) read_layer(i, (*layers)[i]);
  }

  // Reads a file in the order of its tables. The number of [[layer]] tables comes first: layers have no
  // fields before.
  void read_root(const toml::table& root) const {
    if (const toml::array* layers = root["layer"].as_array();
        layers != nullptr && layers->size() != parser.config_.layers.size())
      parser.config_.layers = layers_like(parser.config_.layers, layers->size());
    const auto sections = plain_sections(parser.config_);
    for (const auto& [key, node] : in_file_order(root)) {
      const auto section = std::ranges::find(sections, key, &Section::name);
      if (key == "layer") {
        read_layers(*node);
      } else if (section != sections.end()) {
        read_section(*section, *node);
      } else {
        fail_unknown(*node, key);
      }
    }
  }
};

void Parser::read(std::string_view text) {
  TomlAccess{*this}.read_root(parse_toml(text, origin_));
}

// Applies `section.key=value`, the value in TOML, or text without quotes.
void Parser::apply_override(const std::string& text) {
  const std::string where = fmt::format("--set {}", text);
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    fail_at(where, "expected section.key=value, as in --set train.epochs=3");
  const std::string written = resolve_layer(where, std::string(trim(text.substr(0, equals))));
  const std::string name = present_name(written, renamed_keys());
  const toml::table value = parse_toml_value(where, trim(std::string_view(text).substr(equals + 1)));
  if (sections_.empty()) sections_ = all_sections(config_);
  if (const auto section = std::ranges::find(sections_, name, &Section::name); section != sections_.end()) {
    fail_at(where, fmt::format("'{0}' is a section; name one of its keys, as in {0}.{1}", name,
                               section->fields.front().key));
  }
  const Field* field = find_field(sections_, name);
  if (field == nullptr) fail_unknown_key(where, name);
  set_field(*field, *value.get("v"), where, written);
  if (name != written) note_old_name(where, written, name);
  places_[name] = where;
  overridden_.insert(name);
}

void Parser::note_old_name(const std::string& where, const std::string& was, const std::string& is) {
  old_names_.push_back(
      fmt::format("{}: '{}' is now called '{}'; the old name is still read", where, was, is));
}

// Throws for sampled hidden layers in a file or an override. A stored configuration may have them: its model
// predicts with all their neurons.
void Parser::refuse_sampled_hidden() const {
  for (std::size_t i = 0; i + 1 < config_.layers.size(); ++i) {
    const auto place = places_.find(layer_name(i) + ".kind");
    if (config_.layers[i].kind != LayerKind::kSampled || place == places_.end()) continue;
    fail_at(place->second,
            fmt::format("'{}' = sampled is for the last layer: hidden layers are dense, which train "
                        "faster and to a higher accuracy",
                        place->first));
  }
}

Config Parser::finish() {
  refuse_sampled_hidden();
  if (const auto broken = find_violation(config_)) {
    const auto place = places_.find(broken->key);
    fail_at(place == places_.end() ? origin_ : place->second, broken->message);
  }
  return std::move(config_);
}

// "layer.-1.size" -> "layer.1.size"; other names unchanged.
std::string Parser::resolve_layer(const std::string& where, const std::string& name) const {
  constexpr std::string_view kPrefix = "layer.";
  if (!name.starts_with(kPrefix)) return name;
  const std::size_t end = std::min(name.find('.', kPrefix.size()), name.size());
  const char* last = name.data() + end;
  long index = 0;
  const auto parsed = std::from_chars(name.data() + kPrefix.size(), last, index);
  if (parsed.ec == std::errc::invalid_argument || parsed.ptr != last) {
    fail_at(where, "'layer' needs a layer's number, as in layer.0.size, or layer.-1.size for the last");
  }
  const long layers = static_cast<long>(config_.layers.size());
  if (parsed.ec != std::errc() || index >= layers || index < -layers) {
    fail_at(where, fmt::format("'{}' does not exist; the number of layers is {}, counted from 0",
                               name.substr(0, end), layers));
  }
  return layer_name(static_cast<std::size_t>(index < 0 ? index + layers : index)) + name.substr(end);
}

void Parser::fail_unknown_key(const std::string& where, const std::string& name) {
  fail_at(where,
          fmt::format("unknown key '{}'; did you mean '{}'?", name, nearest_name(name, names_of_keys())));
}

std::vector<std::string> Parser::names_of_keys() {
  Config copy = config_;
  if (copy.layers.empty()) copy.layers = default_layers(1);
  std::vector<std::string> names;
  for (const Section& section : all_sections(copy)) {
    for (const Field& field : section.fields) names.push_back(fmt::format("{}.{}", section.name, field.key));
  }
  return names;
}

std::vector<std::string> Parser::names_of_sections() {
  std::vector<std::string> names;
  for (const Section& section : plain_sections(config_)) names.push_back(section.name);
  names.insert(names.end(), {"layer", "layer.hash"});
  return names;
}

std::string Parser::place(unsigned line) const {
  return fmt::format("{}:{}", origin_, line);
}

// Stored text is read leniently: unknown keys are notes, and missing ones get the values that they had when
// it was written.
Config parse_stored(std::string_view text, const std::string& origin, std::span<const Renamed> renamed,
                    std::vector<std::string>& notes) {
  const toml::table root = parse_toml(text, origin);
  const toml::array* layers = root["layer"].as_array();
  Config config;
  config.layers = default_layers(layers == nullptr ? 0 : layers->size());
  TomlEntries values;
  list_values("", root, values);
  const std::vector<Section> sections = all_sections(config);
  std::vector<std::string> new_notes;
  std::set<std::string> stored;
  for (const auto& [name, node] : values) {
    const std::string present = present_name(name, renamed);
    if (const Field* field = find_field(sections, present)) {
      set_field(*field, *node, fmt::format("{}:{}", origin, node->source().begin.line), name);
      stored.insert(present);
    } else {
      new_notes.push_back(
          one_line(fmt::format("{}: '{}' is no key that this version knows; it is left out", origin, name)));
    }
  }
  fill_missing(sections, stored, origin, new_notes);
  if (const auto broken = find_violation(config)) fail_at(origin, broken->message);
  std::ranges::move(new_notes, std::back_inserter(notes));
  return config;
}

namespace {

std::optional<std::string> plain_text(const toml::node& node) {
  if (node.is_string()) return node.as_string()->get();
  if (node.is_integer()) return std::to_string(node.as_integer()->get());
  if (node.is_floating_point()) return fmt::format("{}", node.as_floating_point()->get());
  if (node.is_boolean()) return node.as_boolean()->get() ? "true" : "false";
  return std::nullopt;
}

}  // namespace

std::vector<PlainKey> parse_plain(std::string_view text, const std::string& origin) {
  const toml::table table = parse_toml(text, origin);
  std::vector<PlainKey> keys;
  for (const auto& [key, node] : in_file_order(table)) {
    PlainKey& plain = keys.emplace_back();
    plain.key = key;
    plain.line = static_cast<unsigned>(node->source().begin.line);
    if (node->is_table())
      fail_at(
          fmt::format("{}:{}", origin, plain.line),
          fmt::format("[{}] is a table, but all keys of this file stand at the top level; leave the line out",
                      plain.key));
    const auto take = [&](const toml::node& value) {
      const std::optional<std::string> one = plain_text(value);
      if (!one)
        fail_at(fmt::format("{}:{}", origin, plain.line),
                fmt::format("'{}' must be a text, a number, true or false, or a list of these", plain.key));
      plain.values.push_back(*one);
    };
    const toml::array* list = node->as_array();
    if (list == nullptr) take(*node);
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) take((*list)[i]);
  }
  return keys;
}

}  // namespace slide::config
