#include "engine/config/parse.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "engine/base/error.h"
#include "engine/config/names.h"
#include "engine/config/rules.h"

namespace slide::config {
namespace {

// One line, whatever the texts in it hold.
std::string line_at(const std::string& where, const std::string& message) {
  std::string line = fmt::format("{}: {}", where, message);
  std::ranges::replace_if(
      line, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return line;
}

[[noreturn]] void fail_at(const std::string& where, const std::string& message) {
  throw InputError(line_at(where, message));
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// What the user wrote, as messages show it.
std::string describe(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (const auto* list = node.as_array()) return (std::ostringstream() << *list).str();
  if (const auto* text = node.as_string()) return quote(text->get());
  if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
  if (const auto* real = node.as_floating_point()) return real_text(real->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  return "a date or time";
}

template <class T>
bool set_integer(T* member, const IntRange& range, const toml::node& node) {
  const auto* integer = node.as_integer();
  if (integer == nullptr || !range.contains(integer->get())) return false;
  *member = static_cast<T>(integer->get());
  return true;
}

// Each sets the member and returns true, or leaves it alone and returns false.
bool set(const Count& count, const toml::node& node) {
  return set_integer(count.member, count.range, node);
}
bool set(const BigCount& count, const toml::node& node) {
  return set_integer(count.member, count.range, node);
}

bool set(const Flag& flag, const toml::node& node) {
  if (node.is_boolean()) *flag.member = node.as_boolean()->get();
  return node.is_boolean();
}

bool set(const Text& text, const toml::node& node) {
  if (node.is_string()) *text.member = node.as_string()->get();
  return node.is_string();
}

bool set(const Real& real, const toml::node& node) {
  const std::optional<double> value = node.is_number() ? node.value<double>() : std::nullopt;
  if (!value || !real.range.contains(*value)) return false;
  *real.member = *value;
  return true;
}

bool set(const CountList& list, const toml::node& node) {
  const toml::array* array = node.as_array();
  if (array == nullptr) return false;
  std::vector<std::uint32_t> values;
  for (const toml::node& element : *array) {
    if (!set_integer(&values.emplace_back(), list.range, element)) return false;
  }
  if (!list_in_range(values, list.range)) return false;
  *list.member = std::move(values);
  return true;
}

bool set(const Choice& choice, const toml::node& node) {
  if (!node.is_string()) return false;
  const auto found = std::ranges::find(choice.names, std::string_view(node.as_string()->get()));
  if (found == choice.names.end()) return false;
  choice.set(choice.member, static_cast<std::size_t>(found - choice.names.begin()));
  return true;
}

// "; did you mean 'adam'?" for a misspelt choice, else empty.
std::string suggest_choice(const Field& field, const toml::node& node) {
  const auto* choice = std::get_if<Choice>(&field.value);
  if (choice == nullptr || !node.is_string()) return "";
  const std::vector<std::string> names(choice->names.begin(), choice->names.end());
  return fmt::format("; did you mean '{}'?", nearest_name(node.as_string()->get(), names));
}

// Sets a field; `name` is its full key. Throws InputError at `where`.
void assign(const Field& field, const toml::node& node, const std::string& where, const std::string& name) {
  const bool done = std::visit([&](const auto& target) { return set(target, node); }, field.value);
  if (done) return;
  fail_at(where, fmt::format("'{}' must be {}, not {}{}", name, expects_text(field), describe(node),
                             suggest_choice(field, node)));
}

// A table's entries as they stand in the file (the TOML library sorts them by name).
std::vector<std::pair<std::string, const toml::node*>> in_file_order(const toml::table& table) {
  std::vector<std::pair<std::string, const toml::node*>> entries;
  for (const auto& [key, node] : table) entries.emplace_back(std::string(key.str()), &node);
  std::ranges::stable_sort(entries, {}, [](const auto& entry) { return entry.second->source().begin.line; });
  return entries;
}

toml::table parse_text(std::string_view text, const std::string& origin) {
  try {
    return toml::parse(text);  // keeping a name of the text, its reader could not pass on that memory is out
  } catch (const toml::parse_error& error) {
    const auto& at = error.source().begin;
    fail_at(fmt::format("{}:{}:{}", origin, at.line, at.column),
            fmt::format("no TOML: {}", error.description()));
  }
}

// The value of an override: TOML, or else a string. The result has one entry, "v".
toml::table parse_value(const std::string& where, std::string_view text) {
  try {
    toml::table table = toml::parse(fmt::format("v = {}\n", text));
    if (table.size() == 1) return table;
  } catch (const toml::parse_error&) {
    // no TOML: a string
  }
  try {
    return toml::parse(fmt::format("v = {}\n", quote(text)));
  } catch (const toml::parse_error&) {
    fail_at(where, "the value is not valid UTF-8");
  }
}

// The values below `node` under their full names, as "layer.0.hash.k".
void list_values(const std::string& name, const toml::node& node,
                 std::vector<std::pair<std::string, const toml::node*>>& values) {
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

// Today's name of a key.
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

// Gives the keys that are not in `stored` what they meant before they were written.
void fill_missing(Config& config, const std::set<std::string>& stored, const std::string& origin,
                  std::vector<std::string>& notes) {
  for (const Section& section : all_sections(config)) {
    for (const Field& field : section.fields) {
      const std::string name = fmt::format("{}.{}", section.name, field.key);
      if (stored.contains(name)) continue;
      if (field.before.empty()) {
        notes.push_back(
            line_at(origin, fmt::format("'{}' is missing; it is taken as {}", name, value_text(field))));
      } else {
        assign(field, *parse_value(origin, field.before).get("v"), origin, name);
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

  void read_value(const Section& section, const std::string& key, const toml::node& node) const {
    const std::string name = fmt::format("{}.{}", section.name, key);
    const Field* field = find_field(section, key);
    if (field == nullptr) fail_unknown(node, name);
    assign(*field, node, where(node), name);
    parser.places_[name] = where(node);
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
      fail_at(where(node), "'layer' must be a list of tables; write [[layer]] above [layer.hash]");
    for (std::size_t i = 0; i < layers->size(); ++i) read_layer(i, (*layers)[i]);
  }

  void read_root(const toml::table& root) const {
    if (const toml::array* layers = root["layer"].as_array())
      parser.config_.layers = default_layers(layers->size());
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
  TomlAccess{*this}.read_root(parse_text(text, origin_));
}

void Parser::apply_override(const std::string& text) {
  const std::string where = fmt::format("--set {}", text);
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    fail_at(where, "expected section.key=value, as in --set train.epochs=3");
  const std::string name = resolve_layer(where, std::string(trim(text.substr(0, equals))));
  const toml::table value = parse_value(where, trim(std::string_view(text).substr(equals + 1)));
  for (const Section& section : all_sections(config_)) {
    if (section.name != name) continue;
    fail_at(where, fmt::format("'{0}' is a section; name one of its keys, as in {0}.{1}", name,
                               section.fields.front().key));
  }
  const std::optional<Field> field = find_field(config_, name);
  if (!field) fail_unknown_key(where, name);
  assign(*field, *value.get("v"), where, name);
  places_[name] = where;
}

Config Parser::finish() {
  if (const auto broken = find_violation(config_)) {
    const auto place = places_.find(broken->key);
    fail_at(place == places_.end() ? origin_ : place->second, broken->message);
  }
  return std::move(config_);
}

// "layer.-1.size" -> "layer.1.size"; other names as they are.
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

Config parse_stored(std::string_view text, const std::string& origin, std::span<const Renamed> renamed,
                    std::vector<std::string>& notes) {
  const toml::table root = parse_text(text, origin);
  const toml::array* layers = root["layer"].as_array();
  Config config;
  config.layers = default_layers(layers == nullptr ? 0 : layers->size());
  std::vector<std::pair<std::string, const toml::node*>> values;
  list_values("", root, values);
  std::vector<std::string> told;
  std::set<std::string> stored;
  for (const auto& [name, node] : values) {
    const std::string present = present_name(name, renamed);
    if (const std::optional<Field> field = find_field(config, present)) {
      assign(*field, *node, fmt::format("{}:{}", origin, node->source().begin.line), name);
      stored.insert(present);
    } else {
      told.push_back(
          line_at(origin, fmt::format("'{}' is no key that this version knows; it is left out", name)));
    }
  }
  fill_missing(config, stored, origin, told);
  if (const auto broken = find_violation(config)) fail_at(origin, broken->message);
  std::ranges::move(told, std::back_inserter(notes));
  return config;
}

}  // namespace slide::config
