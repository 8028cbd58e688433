#include "datasets/interaction_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <unordered_set>

#include "datasets/line_chunks.h"
#include "datasets/row_parser.h"
#include "engine/base/foreign_text.h"

namespace slide {

namespace {

constexpr std::string_view kSeparators = " \t,\r";
constexpr std::size_t kShapeBytes = std::size_t{1} << 20;  // examined bytes
constexpr std::size_t kMaxFields = 4;                      // of a pair

// Parses the whole field as a finite number; nullopt otherwise.
template <class T>
std::optional<T> number_of(std::string_view field) {
  T value{};
  const auto [stop, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || stop != field.data() + field.size()) return std::nullopt;
  return value;
}

[[noreturn]] void fail_field(std::string_view line, std::string_view field, const char* what) {
  throw RowFault{static_cast<std::size_t>(field.data() - line.data()) + 1,
                 fmt::format("'{}' is {}; a line is 'user item [weight [time]]'", shown_part(field), what)};
}

// Parses weight and time from the rest of a pair.
ItemWeight take_weight(std::string_view line, std::string_view& rest) {
  ItemWeight taken;
  if (const std::string_view field = take_field(rest); !field.empty()) {
    const std::optional<float> weight = number_of<float>(field);
    if (!weight || !std::isfinite(*weight)) fail_field(line, field, "no weight");
    if (*weight < 0) fail_field(line, field, "a negative weight");
    taken.weight = *weight;
  }
  if (const std::string_view field = take_field(rest); !field.empty()) {
    const std::optional<double> time = number_of<double>(field);
    if (!time || !std::isfinite(*time)) fail_field(line, field, "no time, which is a number");
    taken.time = *time;
  }
  return taken;
}

std::size_t fields_of(std::string_view line) {
  std::size_t count = 0;
  while (!take_field(line).empty()) ++count;
  return count;
}

// Whether a first line names columns, such as user, userId, "user_id".
bool names_columns(std::string_view line) {
  std::string first(take_field(line));
  std::erase(first, '"');
  std::ranges::transform(first, first.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  const bool has_digit = std::ranges::any_of(first, [](char c) { return c >= '0' && c <= '9'; });
  return !has_digit && (first.starts_with("user") || first == "uid") && !take_field(line).empty();
}

// Summary of some lines.
struct Lines {
  std::size_t fields = 0;  // common number of fields, or 0
  bool repeats = false;    // a user has several lines
};

Lines look_at(std::string_view text) {
  Lines seen;
  std::unordered_set<std::string_view> users;
  for (bool first = true; !text.empty();) {
    std::string_view line = take_line(text);
    const std::size_t fields = fields_of(line);
    if (fields == 0) continue;
    if (first) seen.fields = fields;
    if (fields != seen.fields) return {};
    first = false;
    if (!users.insert(take_field(line)).second) seen.repeats = true;
  }
  return seen;
}

// Whole lines among the first bytes; a text without a line end there is returned completely.
std::string_view first_lines(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return text;
  const std::size_t end = text.rfind('\n', bytes - 1);
  return end == std::string_view::npos ? text : text.substr(0, end + 1);
}

// Whether lines after a line of three numbers contradict an XMC header: an id is out of range, or there are
// more lines than samples. A sample is 'label,label feature feature ...'.
bool contradicts(const std::array<std::uint64_t, 3>& header, std::string_view text) {
  std::uint64_t samples = 0;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (is_blank_line(line)) continue;
    if (++samples > header[0]) return true;
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    std::string_view labels = line.substr(0, end), features = line.substr(end);
    for (std::string_view one = take_field(labels); !one.empty(); one = take_field(labels)) {
      if (number_of<std::uint64_t>(one).value_or(header[2]) >= header[2]) return true;
    }
    for (std::string_view one = take_field(features); !one.empty(); one = take_field(features)) {
      if (number_of<std::uint64_t>(one).value_or(header[1]) >= header[1]) return true;
    }
  }
  return false;
}

}  // namespace

std::string_view take_field(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(kSeparators), rest.size()));
  const std::string_view field = rest.substr(0, rest.find_first_of(kSeparators));
  rest.remove_prefix(field.size());
  return field;
}

void split_log_line(std::string_view line, TextForm form, std::size_t fields, LogLine& result) {
  std::string_view rest = line;
  result.user = take_field(rest);
  result.items.clear();
  result.of_pair = {};
  if (form == TextForm::kItemLists) {
    for (std::string_view item = take_field(rest); !item.empty(); item = take_field(rest))
      result.items.push_back(item);
    return;
  }
  const std::size_t found = fields_of(line);
  if (found != fields) {
    throw RowFault{1, fmt::format("{} fields in a file of pairs that has {} in each line; write "
                                  "'user item [weight [time]]' throughout",
                                  found, fields)};
  }
  result.items.push_back(take_field(rest));
  result.of_pair = take_weight(line, rest);
}

std::size_t log_head(std::string_view text) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view before = rest, line = take_line(rest);
    if (!is_blank_line(line)) return text.size() - (names_columns(line) ? rest : before).size();
  }
  return text.size();
}

LogShape find_log_shape(std::span<const std::string_view> texts, std::optional<TextForm> known) {
  LogShape shape;
  std::string joined;
  std::string_view begin;
  for (const std::string_view text : texts) {
    const std::string_view lines = first_lines(text.substr(log_head(text)), kShapeBytes - begin.size());
    if (texts.size() == 1) {
      begin = lines;
      break;
    }
    joined += lines;
    if (!joined.empty() && joined.back() != '\n') joined += '\n';
    begin = joined;
    if (begin.size() >= kShapeBytes) break;
  }
  const Lines seen = look_at(begin);
  const bool may_be_pairs = seen.fields >= 2 && seen.fields <= kMaxFields;
  if (may_be_pairs && (seen.fields == 2 || seen.repeats || known == TextForm::kItemPairs)) {
    shape.form = TextForm::kItemPairs;
    shape.fields = seen.fields;
  }
  return shape;
}

bool looks_like_log(std::string_view text) {
  constexpr std::size_t kMinLines = 2;
  const std::size_t end = text.rfind('\n');
  if (end == std::string_view::npos || text.find_first_of(":\t") != std::string_view::npos) return false;
  const std::string_view lines = text.substr(0, end + 1);
  std::array<std::uint64_t, 3> header{};
  std::size_t count = 0, header_fields = 0;
  bool all_same = true;  // all lines have equally many fields
  std::string_view behind_header;
  for (std::string_view rest = lines; !rest.empty();) {
    std::string_view line = take_line(rest);
    if (is_blank_line(line)) continue;
    std::size_t fields = 0;
    for (std::string_view field = take_field(line); !field.empty(); field = take_field(line), ++fields) {
      const auto id = number_of<std::uint64_t>(field);
      if (!id && (fields < 2 || !number_of<double>(field))) return false;
      if (count == 0 && fields < header.size()) header[fields] = id.value_or(0);
    }
    if (fields < 2) return false;
    all_same = all_same && (count == 0 || fields == header_fields);
    if (count++ == 0) {
      header_fields = fields;
      behind_header = rest;
    }
  }
  if (count < kMinLines) return false;
  return header_fields != header.size() || (all_same && contradicts(header, behind_header));
}

}  // namespace slide
