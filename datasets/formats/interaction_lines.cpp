#include "datasets/formats/interaction_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "datasets/rows/line_chunks.h"
#include "datasets/rows/row_parser.h"
#include "engine/base/foreign_text.h"
#include "engine/base/number_text.h"

namespace slide {

namespace {

constexpr std::size_t kMinLogLines = 2;  // fewer show nothing

// Column of a field in its line, from 1; 1 for a field that is no view of the line (UnquotedNames).
std::size_t column_of(std::string_view line, std::string_view field) {
  const bool inside = field.data() >= line.data() && field.data() <= line.data() + line.size();
  return inside ? static_cast<std::size_t>(field.data() - line.data()) + 1 : 1;
}

[[noreturn]] void fail_field(std::string_view line, std::string_view field, const std::string& what) {
  throw RowFault{column_of(line, field),
                 fmt::format("'{}' is {}; a line is 'user item [weight [time]]'", shown_part(field), what)};
}

[[noreturn]] void fail_empty(std::string_view line, std::string_view field, std::size_t column) {
  throw RowFault{
      column_of(line, field),
      fmt::format("field {} is empty; give every line a user, an item and what else is read, or say by "
                  "data.user, data.item, data.weight and data.time which columns are what",
                  column + 1)};
}

// Throws RowFault for a name with a TAB: printed predictions have TABs between names.
void refuse_tab(std::string_view line, std::string_view name) {
  if (name.find('\t') != std::string_view::npos)
    throw RowFault{column_of(line, name), "a name with a TAB in it; write it without"};
}

// The weight in a field. Throws RowFault for a field that is no number, or negative.
float weight_of(std::string_view line, std::string_view field) {
  const std::optional<float> weight = weight_in_field(field);
  if (!weight) fail_field(line, field, "no weight");
  if (*weight < 0) {
    throw RowFault{
        column_of(line, field),
        fmt::format("'{}' is a negative weight; weights are from 0: leave out what a user disliked, add a "
                    "number to all weights, or set data.weight=none to read none",
                    shown_part(field))};
  }
  return *weight;
}

// Takes user, item, weight and time of a line of pairs from its fields. Throws RowFault.
void split_pair(std::string_view line, const LogLayout& layout, LogLine& result) {
  const std::vector<std::string_view>& fields = result.fields;
  if (fields.size() != layout.fields) {
    throw RowFault{1, fmt::format("{} fields in a file of pairs that has {} in each line; write "
                                  "'user item [weight [time]]' throughout, or set data.log=lists where lines "
                                  "are a user and its items",
                                  fields.size(), layout.fields)};
  }
  const auto field = [&](std::size_t column) {
    if (fields[column].empty()) fail_empty(line, fields[column], column);
    return fields[column];
  };
  const PairColumns& columns = layout.columns;
  result.user = field(columns.user);
  result.items.push_back(field(columns.item));
  if (columns.weight) result.of_pair.weight = weight_of(line, field(*columns.weight));
  if (!columns.time) return;
  const std::optional<double> time = time_in_field(field(*columns.time));
  if (!time)
    fail_field(line, fields[*columns.time],
               "no time, which is a number, or a date as 2024-05-31 or 2024-05-31T12:30:00Z");
  result.of_pair.time = *time;
}

// Takes the user and the items of a line of a list. Ignores empty fields at the end, by which spreadsheets
// pad the lines of a table to one length.
void split_list(std::string_view line, LogLine& result) {
  std::vector<std::string_view>& fields = result.fields;
  while (!fields.empty() && fields.back().empty()) fields.pop_back();
  for (std::size_t column = 0; column < fields.size(); ++column) {
    if (fields[column].empty()) fail_empty(line, fields[column], column);
  }
  if (fields.empty()) throw RowFault{1, "there is no user; write 'user item item ...'"};
  result.user = fields.front();
  result.items.assign(fields.begin() + 1, fields.end());
}

// Whether each of at least two lines has three or four numbers between TABs, or between double colons, and
// the last number can be a time.
bool is_timed_log(std::string_view text) {
  std::vector<std::string_view> fields;
  UnquotedNames unquoted;
  for (const Separator separator : {Separator::kTab, Separator::kColons}) {
    std::uint64_t lines = 0, timed = 0;
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view line = take_line(rest);
      if (is_blank_line(line)) continue;
      ++lines;
      if (!try_cut_fields(line, separator, fields, unquoted)) continue;
      if (fields.size() != 3 && fields.size() != 4) continue;
      const auto is_number = [](std::string_view field) { return number_of<double>(field).has_value(); };
      const bool are_numbers = std::ranges::all_of(fields, is_number);
      timed += are_numbers && time_unit_of(*number_of<double>(fields.back())) ? 1 : 0;
    }
    if (lines >= kMinLogLines && timed == lines) return true;
  }
  return false;
}

// Whether each of at least two lines has two or more numbers between these separators, the first two
// integers.
bool has_numbers_between(Separator separator, std::string_view text) {
  std::vector<std::string_view> fields;
  UnquotedNames unquoted;
  std::size_t lines = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = take_line(rest);
    if (is_blank_line(line)) continue;
    if (!try_cut_fields(line, separator, fields, unquoted) || fields.size() < 2) return false;
    for (std::size_t column = 0; column < fields.size(); ++column) {
      if (!number_of<std::uint64_t>(fields[column]) && (column < 2 || !number_of<double>(fields[column])))
        return false;
    }
    ++lines;
  }
  return lines >= kMinLogLines;
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

// Whether each of at least two lines has two or more numbers, the first two integers, and the first line is
// no XMC header of the others.
bool is_log_of_numbers(std::string_view text) {
  std::array<std::uint64_t, 3> header{};  // the first numbers of the first line
  std::size_t lines = 0, header_fields = 0;
  bool all_same = true;  // all lines have the same number of fields
  std::string_view behind_header;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = take_line(rest);
    if (is_blank_line(line)) continue;
    std::size_t fields = 0;
    for (std::string_view field = take_field(line); !field.empty(); field = take_field(line), ++fields) {
      const auto id = number_of<std::uint64_t>(field);
      if (!id && (fields < 2 || !number_of<double>(field))) return false;
      if (lines == 0 && fields < header.size()) header[fields] = id.value_or(0);
    }
    if (fields < 2) return false;
    if (lines++ == 0) {
      header_fields = fields;
      behind_header = rest;
    }
    all_same = all_same && fields == header_fields;
  }
  if (lines < kMinLogLines) return false;
  return header_fields != header.size() || (all_same && contradicts(header, behind_header));
}

}  // namespace

// Divides the line at the layout's separator, and takes its fields by their roles.
void split_log_line(std::string_view line, const LogLayout& layout, LogLine& result) {
  result.items.clear();
  result.of_pair = {};
  cut_fields(line, layout.separator, result.fields, result.unquoted);
  layout.form == TextForm::kItemPairs ? split_pair(line, layout, result) : split_list(line, result);
  const bool separates_at_tabs =
      layout.separator == Separator::kTab || layout.separator == Separator::kBlanks;
  if (separates_at_tabs || line.find('\t') == std::string_view::npos) return;
  refuse_tab(line, result.user);
  for (const std::string_view item : result.items) refuse_tab(line, item);
}

// Looks at whole lines, from the strongest sign to the weakest: a header line, numbers between separators
// that only logs use, and last fields between blanks, commas or TABs.
bool looks_like_log(std::string_view text) {
  const std::size_t end = text.rfind('\n');
  if (end == std::string_view::npos) return false;
  const std::string_view lines = text.substr(0, end + 1);
  if (has_log_header(lines)) return true;
  for (const Separator separator : {Separator::kColons, Separator::kSemicolon, Separator::kBar}) {
    if (has_numbers_between(separator, lines)) return true;
  }
  // The text after a TAB may be ids of words, with blanks or commas between them.
  const bool tabs_alone = lines.find_first_of(": ,") == std::string_view::npos;
  if (!tabs_alone && lines.find_first_of(":\t") != std::string_view::npos) return is_timed_log(lines);
  return is_log_of_numbers(lines);
}

}  // namespace slide
