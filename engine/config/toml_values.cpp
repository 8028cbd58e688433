#include "engine/config/toml_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <sstream>

#include "datasets/rows/data_parts.h"
#include "engine/base/error.h"
#include "engine/config/names.h"
#include "engine/config/settings.h"

namespace slide::config {

void fail_at(const std::string& where, const std::string& message) {
  fail_input("{}: {}", where, message);
}

namespace {

// User input, as messages show it.
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

// Each overload sets the member and returns true, or leaves it unchanged and returns false.
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
  if (text.columns && node.is_integer() && node.as_integer()->get() > 0) {
    *text.member = std::to_string(node.as_integer()->get());
    return true;
  }
  if (node.is_string()) *text.member = node.as_string()->get();
  return node.is_string();
}

// A path, or a list of paths, which the member holds as one text (path_of_parts()).
bool set(const Files& files, const toml::node& node) {
  const toml::array* list = node.as_array();
  if (list == nullptr) return set(Text{files.member}, node);
  std::vector<std::string> parts;
  for (const toml::node& part : *list) {
    if (!set(Text{&parts.emplace_back()}, part)) return false;
    if (parts.back().empty() || parts.back().find('\n') != std::string::npos) return false;
  }
  if (parts.empty()) return false;
  *files.member = path_of_parts(parts);
  return true;
}

bool set(const Real& real, const toml::node& node) {
  const std::optional<double> value = node.is_number() ? node.value<double>() : std::nullopt;
  if (!value || !real.range.contains(*value)) return false;
  *real.member = *value;
  return true;
}

bool set(const RealOrAuto& real, const toml::node& node) {
  double number = 0.0;
  const bool automatic = node.value<std::string>() == "auto";
  if (!automatic && !set(Real{&number, real.range}, node)) return false;
  *real.member = automatic ? std::nullopt : std::optional(number);
  return true;
}

// Accepts a number, or what `Path` (Text or Files) accepts.
template <class Path, class Member>
bool set_number_or(Member* member, const RealRange& range, const toml::node& node) {
  std::string path;
  if (set(Path{&path}, node)) {
    if (path.empty()) return false;
    *member = {0.0, std::move(path)};
    return true;
  }
  double number = 0.0;
  if (!set(Real{&number, range}, node)) return false;
  *member = {number, ""};
  return true;
}

bool set(const ShareOrFile& either, const toml::node& node) {
  return set_number_or<Files>(either.member, either.range, node);
}

bool set(const PowerOrFile& either, const toml::node& node) {
  return set_number_or<Text>(either.member, either.range, node);
}

// true is one item; an integer is a number of items; a number below 1 is a share.
bool set(const NewestItems& newest, const toml::node& node) {
  TestNewest value;
  if (node.is_boolean()) {
    value.items = node.as_boolean()->get() ? 1 : 0;
  } else if (node.is_integer()) {
    if (!set_integer(&value.items, {0, NewestItems::kMax}, node)) return false;
  } else if (!set(Real{&value.share, {0, 1, false, true}}, node)) {
    return false;
  }
  *newest.member = value;
  return true;
}

// Keeps a date or number as text: the log decides what it is compared with.
bool set(const Time& time, const toml::node& node) {
  std::ostringstream text;
  if (node.is_date()) {
    text << *node.as_date();
  } else if (node.is_date_time()) {
    text << *node.as_date_time();
  } else if (node.is_integer()) {
    text << node.as_integer()->get();
  } else if (node.is_floating_point()) {
    text << real_text(node.as_floating_point()->get());
  } else {
    return set(Text{time.member}, node);
  }
  *time.member = text.str();
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

// Names of losses in other programs.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"ova", "sigmoid"},           {"one-vs-all", "sigmoid"}, {"ovr", "sigmoid"}, {"bce", "sigmoid"},
    {"logistic", "sigmoid"},      {"binary", "sigmoid"},     {"hs", "softmax"},  {"ns", "softmax"},
    {"cross-entropy", "softmax"}, {"ce", "softmax"}};

// "; did you mean 'adam'?" for a misspelt choice, else empty.
std::string suggest_choice(const Field& field, const toml::node& node) {
  const auto* choice = std::get_if<Choice>(&field.value);
  if (choice == nullptr || !node.is_string()) return "";
  const std::vector<std::string> names(choice->names.begin(), choice->names.end());
  for (const auto& [other, name] : kOtherNames) {
    if (node.as_string()->get() == other && std::ranges::count(names, "softmax") > 0)
      return fmt::format("; did you mean '{}'?", name);
  }
  return fmt::format("; did you mean '{}'?", nearest_name(node.as_string()->get(), names));
}

}  // namespace

void set_field(const Field& field, const toml::node& node, const std::string& where,
               const std::string& name) {
  const bool done = std::visit([&](const auto& target) { return set(target, node); }, field.value);
  if (done) return;
  fail_at(where, fmt::format("'{}' must be {}, not {}{}", name, expects_text(field), describe(node),
                             suggest_choice(field, node)));
}

TomlEntries in_file_order(const toml::table& table) {
  TomlEntries entries;
  for (const auto& [key, node] : table) entries.emplace_back(std::string(key.str()), &node);
  std::ranges::stable_sort(entries, {}, [](const auto& entry) { return entry.second->source().begin.line; });
  return entries;
}

toml::table parse_toml(std::string_view text, const std::string& origin) {
  try {
    return toml::parse(text);  // with a file name, the library would not propagate bad_alloc
  } catch (const toml::parse_error& error) {
    const auto& at = error.source().begin;
    fail_at(fmt::format("{}:{}:{}", origin, at.line, at.column),
            fmt::format("no TOML: {}", error.description()));
  }
}

// Returns a table with the value as `v`. What is no TOML value is a string, so that paths need no quotes.
toml::table parse_toml_value(const std::string& where, std::string_view text) {
  try {
    toml::table table = toml::parse(fmt::format("v = {}\n", text));
    if (table.size() == 1) return table;
  } catch (const toml::parse_error&) {
    // not TOML: a string
  }
  try {
    return toml::parse(fmt::format("v = {}\n", quote(text)));
  } catch (const toml::parse_error&) {
    fail_at(where, "the value is not valid UTF-8");
  }
}

}  // namespace slide::config
