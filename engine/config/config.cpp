#include "engine/config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "datasets/rows/labelled_line.h"
#include "engine/base/error.h"
#include "engine/base/input_file.h"
#include "engine/config/fields.h"
#include "engine/config/parse.h"
#include "engine/config/rules.h"
#include "engine/config/unused.h"

namespace slide {
namespace {

using config::Field;
using config::Section;

constexpr int kCommentColumn = 30;

std::string comment_text(const Field& field) {
  if (!std::holds_alternative<config::Choice>(field.value)) return std::string(field.meaning);
  return fmt::format("{} ({})", field.meaning, config::range_text(field));
}

Config parsed_over(const Config& base, const std::string& text, const std::string& origin,
                   const std::vector<std::string>& overrides) {
  config::Parser parser(origin, base);
  parser.read(text);
  for (const std::string& override_text : overrides) parser.apply_override(override_text);
  return parser.finish();
}

}  // namespace

ConfigText read_config_text(const std::string& path) {
  const std::string text = read_text_file(path, "check the path, or start from configs/default.toml");
  return {std::string(without_byte_order_mark(text)), path};
}

Config parse_config(const std::string& text, const std::string& origin,
                    const std::vector<std::string>& overrides, const Config& base) {
  Config config = parsed_over(base, text, origin, overrides);
  const bool suited =
      config.data.kind != DataKind::kInteractions || base.data.kind == DataKind::kInteractions;
  return suited ? config : parsed_over(suited_to_interactions(base), text, origin, overrides);
}

Config load_config(const std::string& path, const std::vector<std::string>& overrides, const Config& base) {
  return parse_config(read_config_text(path).text, path, overrides, base);
}

std::vector<std::string> notes_on_keys(const ConfigText& file, const std::vector<std::string>& overrides,
                                       const Config& config) {
  config::Parser parser(file.origin, config);
  parser.read(file.text);
  for (const std::string& override_text : overrides) parser.apply_override(override_text);
  std::vector<std::string> notes = parser.old_names();
  std::ranges::move(unused_keys(config, parser.overridden()), std::back_inserter(notes));
  return notes;
}

Config parse_stored_config(const std::string& text, const std::string& origin,
                           std::vector<std::string>& notes) {
  return config::parse_stored(text, origin, config::renamed_keys(), notes);
}

Config load_stored_config(const std::string& path, std::vector<std::string>& notes) {
  return parse_stored_config(read_config_text(path).text, path, notes);
}

void validate(const Config& config) {
  if (const auto broken = config::find_violation(config)) fail_input("{}", broken->message);
}

std::string to_toml(const Config& config) {
  Config copy = config;  // fields bind to a mutable object
  std::string out = "# Resolved configuration: every key, with the value that was used.\n";
  for (const Section& section : config::all_sections(copy)) {
    fmt::format_to(std::back_inserter(out), "\n{}\n", section.heading);
    for (const Field& field : section.fields) {
      const std::string assignment = fmt::format("{} = {}", field.key, config::value_text(field));
      fmt::format_to(std::back_inserter(out), "{:<{}}  # {}\n", assignment, kCommentColumn,
                     comment_text(field));
    }
  }
  return out;
}

std::optional<ChangedKey> first_changed_key(const Config& before, const Config& after,
                                            const std::function<bool(std::string_view)>& matters) {
  Config a = before, b = after;
  const auto was = config::all_sections(a), is = config::all_sections(b);
  for (std::size_t s = 0; s < was.size(); ++s) {
    for (std::size_t f = 0; f < was[s].fields.size(); ++f) {
      const std::string key(was[s].fields[f].key);
      if (!matters(fmt::format("{}.{}", was[s].name, key))) continue;
      const std::string one = config::value_text(was[s].fields[f]),
                        other = config::value_text(is[s].fields[f]);
      if (one != other) return ChangedKey{was[s].heading, was[s].name, key, one, other};
    }
  }
  return std::nullopt;
}

}  // namespace slide
