#include "datasets/formats/log_layout.h"
#include "datasets/text/column_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "datasets/formats/log_decision.h"
#include "datasets/formats/log_look.h"
#include "datasets/formats/log_survey.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/row_parser.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/base/number_text.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::size_t kLookBytes = std::size_t{1} << 16;  // that a first look goes through

using Names = std::vector<std::string>;

// The first line that is not blank, and where it begins and ends.
struct FirstLine {
  std::string_view line;
  std::size_t begin = 0, end = 0;
};

FirstLine first_line(std::string_view text) {
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t begin = text.size() - rest.size();
    const std::string_view line = take_line(rest);
    if (!is_blank_line(line)) return {line, begin, text.size() - rest.size()};
  }
  return {{}, text.size(), text.size()};
}

Names names_in(std::string_view line, Separator separator) {
  std::vector<std::string_view> fields;
  UnquotedNames unquoted;
  if (!try_cut_fields(line, separator, fields, unquoted)) return {};
  return {fields.begin(), fields.end()};
}

const std::string& wanted_of(const LogOptions& log, LogRole role) {
  const std::string* const wanted[] = {&log.user, &log.item, &log.weight, &log.time};
  return *wanted[static_cast<std::size_t>(role)];
}

// A column by its number from 1.
std::optional<std::size_t> place_in(const std::string& wanted) {
  const std::optional<std::size_t> number = number_of<std::size_t>(wanted);
  if (number.value_or(0) == 0) return std::nullopt;
  return *number - 1;
}

bool is_name(const std::string& wanted) {
  return !wanted.empty() && wanted != LogOptions::kNoColumn && !place_in(wanted);
}

bool has_names(const LogOptions& log) {
  return is_name(log.user) || is_name(log.item) || is_name(log.weight) || is_name(log.time);
}

bool names_columns(const LogOptions& log) {
  return !log.user.empty() || !log.item.empty() || !log.weight.empty() || !log.time.empty();
}

// Returns the column that option `log` names for this role, else one with a usual name; nothing without
// either.
std::optional<std::size_t> column_of(const Names& names, const LogOptions& log, LogRole role) {
  const std::string& wanted = wanted_of(log, role);
  if (wanted == LogOptions::kNoColumn || (role == LogRole::kTime && log.in_order)) return std::nullopt;
  if (wanted.empty()) return find_role(names, role);
  const auto found = std::ranges::find(names, wanted);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  const std::optional<std::size_t> place = place_in(wanted);
  return place && *place < names.size() ? place : std::nullopt;
}

// Whether all column names in the options occur in `names`.
bool has_wanted(const Names& names, const LogOptions& log) {
  for (std::size_t r = 0; r < kLogRoles; ++r) {
    const auto role = static_cast<LogRole>(r);
    if (is_name(wanted_of(log, role)) && !column_of(names, log, role)) return false;
  }
  return true;
}

// The layout that a header of these names gives; nullopt where users and items have no column each, or where
// their names are neither configured nor usual.
std::optional<LogLayout> layout_of_names(const Names& names, const LogOptions& log) {
  if (names.size() < 2 || !has_wanted(names, log)) return std::nullopt;
  const auto user = column_of(names, log, LogRole::kUser), item = column_of(names, log, LogRole::kItem);
  if (!user || !item || *user == *item) return std::nullopt;
  const bool has_usual_names = find_role(names, LogRole::kUser) && find_role(names, LogRole::kItem);
  if (!has_names(log) && !has_usual_names) return std::nullopt;
  LogLayout layout;
  layout.form = TextForm::kItemPairs;
  layout.fields = names.size();
  layout.columns = {*user, *item, column_of(names, log, LogRole::kWeight),
                    column_of(names, log, LogRole::kTime)};
  return layout;
}

// Whether a first line is a header that layout_of_header() does not take: it names a user and no item, as of
// a list, or the configured column of weights or times has no such value in it. "user 66" is data: a user
// called "user".
bool is_other_header(std::string_view line, const LogOptions& log) {
  std::string blanks(line);  // between the fields, whatever parts them
  std::ranges::replace_if(
      blanks, [](char c) { return c == ';' || c == '|'; }, ' ');
  std::string_view rest = blanks;
  std::string first(take_field(rest));
  std::erase(first, '"');
  std::string second(take_field(rest));
  std::erase(second, '"');
  const bool is_number = second.empty() || is_digits(second);
  const bool names_user = first.starts_with("user") || first.starts_with("User") ||
                          first.starts_with("USER") ||
                          ((first.ends_with("id") || first.ends_with("Id") || first.ends_with("ID")) &&
                           find_role({first}, LogRole::kUser));
  if (names_user && std::ranges::none_of(first, is_digit) && !is_number) return true;
  if (!names_columns(log)) return false;
  for (const Separator separator : kStrictSeparators) {
    const Names names = names_in(line, separator);
    if (names.size() < 2) continue;
    const auto holds = [&](const std::string& wanted, LogRole role, const auto& value_in_field) {
      const auto column = column_of(names, log, role);
      return wanted.empty() || !column || names[*column].empty() || value_in_field(names[*column]);
    };
    return !holds(log.weight, LogRole::kWeight, weight_in_field) ||
           !holds(log.time, LogRole::kTime, time_in_field);
  }
  return false;
}

// Throws for a log without the configured header: names the first configured column that is missing.
[[noreturn]] void fail_columns(const TextSource& source, const LogOptions& log) {
  const FirstLine first = first_line(source.text);
  Names names;
  for (const Separator separator : kStrictSeparators) {
    if (names.size() < 2) names = names_in(first.line, separator);
  }
  for (std::size_t r = 0; r < kLogRoles; ++r) {
    const auto role = static_cast<LogRole>(r);
    const std::string& wanted = wanted_of(log, role);
    if (!is_name(wanted) || std::ranges::find(names, wanted) != names.end()) continue;
    fail_input("{}:1:1: there is no column '{}', which {} names; the columns are {}", source.origin, wanted,
               key_of(role), shown_part(fmt::format("{}", fmt::join(names, ", "))));
  }
  fail_input(
      "{}:1:1: the first line names no columns of users and items; set data.user and data.item to two "
      "of {}",
      source.origin, shown_part(fmt::format("{}", fmt::join(names, ", "))));
}

// The columns without a role, except an index column.
Names unread_of(const Names& names, const PairColumns& read) {
  Names unread;
  for (std::size_t column = 0; column < names.size(); ++column) {
    const bool is_read =
        column == read.user || column == read.item || column == read.weight || column == read.time;
    if (!is_read && !names_index(names[column])) unread.push_back(names[column]);
  }
  return unread;
}

// Warns of columns with names but without a role, where no column is the weight: one of them may be it.
void warn_unread(const TextSource& source, const LogLayout& layout, const LogOptions& log,
                 std::vector<std::string>& warnings) {
  if (layout.columns.weight || names_columns(log)) return;
  const Names unread = unread_of(names_in(first_line(source.text).line, layout.separator), layout.columns);
  if (unread.empty()) return;
  warnings.push_back(fmt::format(
      "{}: the column{} {} {} not read and every line weighs 1; name the weights by data.weight, or say "
      "data.weight=none",
      source.origin, unread.size() > 1 ? "s" : "", shown_part(fmt::format("{}", fmt::join(unread, ", "))),
      unread.size() > 1 ? "are" : "is"));
}

// The common layout of all parts without a header line, by statistics of their lines.
LogLayout layout_of_lines(std::span<const TextSource> bodies, const ReadOptions& options,
                          const std::optional<KnownLog>& known, std::size_t chunk_bytes,
                          std::vector<std::string>& warnings) {
  const int threads = resolve_threads(options.threads);
  std::vector<TextSource> heads;
  std::size_t bytes = 0;
  for (const TextSource& body : bodies) {
    if (bytes >= kLookBytes) break;
    const std::size_t some =
        body.text.size() <= kLookBytes ? body.text.size() : body.text.rfind('\n', kLookBytes);
    heads.push_back({body.text.substr(0, some), body.origin, nullptr});
    bytes += heads.back().text.size();
  }
  Separator separator = separator_of(survey(heads, Separator::kBlanks, 1, kLookBytes));
  LogFacts facts = survey(bodies, separator, threads, chunk_bytes);
  if (const Separator found = separator_of(facts); found != separator) {
    separator = found;
    facts = survey(bodies, separator, threads, chunk_bytes);
  }
  return decide_layout({bodies, options.log, known, separator, facts}, warnings);
}

// describe_columns() of a text without a header, whose columns the options name by number.
std::string describe_numbered_columns(std::string_view text, const LogOptions& options) {
  if (!names_columns(options) || has_names(options)) return {};
  const std::string_view line = first_line(text).line;
  Names fields;
  for (std::size_t s = 0; s < kSeparators && fields.size() < 2; ++s)
    fields = names_in(line, static_cast<Separator>(s));
  std::string description;
  std::vector<bool> read(fields.size());
  for (std::size_t r = 0; r < kLogRoles; ++r) {
    const auto role = static_cast<LogRole>(r);
    const bool is_default = wanted_of(options, role).empty() && role <= LogRole::kItem;
    const std::optional<std::size_t> place =
        is_default ? std::optional(r) : place_in(wanted_of(options, role));
    if (!place || *place >= read.size()) continue;
    read[*place] = true;
    description +=
        fmt::format("{}{}s by column {}", description.empty() ? "" : ", ", name_of(role), *place + 1);
  }
  Names others;
  for (std::size_t column = 0; column < read.size(); ++column) {
    if (!read[column]) others.push_back(fmt::format("column {}", column + 1));
  }
  return others.empty() ? "" : fmt::format("{}; not read: {}", description, fmt::join(others, ", "));
}

TextSource behind(const TextSource& source, std::size_t bytes) {
  return {source.text.substr(bytes), source.origin, source.file};
}

}  // namespace

bool LogLayouts::has_times() const {
  return std::ranges::any_of(parts, [](const LogLayout& part) { return part.columns.time.has_value(); });
}

std::optional<LogLayout> layout_of_header(std::string_view text, const LogOptions& options) {
  if (options.form == LogForm::kLists) return std::nullopt;
  const FirstLine first = first_line(text);
  for (std::size_t s = 0; s < kSeparators; ++s) {
    const auto separator = static_cast<Separator>(s);
    std::optional<LogLayout> layout = layout_of_names(names_in(first.line, separator), options);
    if (!layout) continue;
    layout->separator = separator;
    layout->header_bytes = first.end;
    return layout;
  }
  return std::nullopt;
}

bool has_log_header(std::string_view text) {
  const std::optional<LogLayout> layout = layout_of_header(text, {});
  if (!layout) return false;
  const Names names = names_in(first_line(text).line, layout->separator);
  const Names others = unread_of(names, layout->columns);
  return others.empty() || (names_pairs(names[layout->columns.user], names[layout->columns.item]) &&
                            std::ranges::none_of(others, names_text_or_labels));
}

std::string describe_columns(std::string_view text, const LogOptions& options) {
  const std::optional<LogLayout> layout = layout_of_header(text, options);
  if (!layout) return describe_numbered_columns(text, options);
  const Names names = names_in(first_line(text).line, layout->separator);
  const PairColumns& read = layout->columns;
  const Names others = unread_of(names, read);
  if (others.empty()) return {};
  std::string description = fmt::format("users by {}, items by {}", names[read.user], names[read.item]);
  if (read.weight) description += ", weights by " + names[*read.weight];
  if (read.time) description += ", times by " + names[*read.time];
  return shown_part(description) + "; not read: " + shown_part(fmt::format("{}", fmt::join(others, ", ")));
}

// By header lines where a part has one, else by the lines of all parts (`bodies`: without header lines).
LogLayouts find_log_layouts(std::span<const TextSource> sources, const ReadOptions& options,
                            std::optional<KnownLog> known, std::size_t chunk_bytes) {
  LogLayouts found;
  for (const TextSource& source : sources) refuse_foreign_log(source);
  std::vector<std::optional<LogLayout>> heads;
  const LogLayout* named = nullptr;
  for (const TextSource& source : sources) heads.push_back(layout_of_header(source.text, options.log));
  for (std::size_t part = 0; part < heads.size(); ++part) {
    if (!heads[part] || named != nullptr) continue;
    named = &*heads[part];
    warn_unread(sources[part], *named, options.log, found.warnings);
  }
  if (named == nullptr && has_names(options.log) && !known) fail_columns(sources.front(), options.log);
  std::vector<TextSource> bodies;
  for (std::size_t part = 0; part < heads.size(); ++part) {
    const FirstLine first = first_line(sources[part].text);
    const bool skipped = named == nullptr && is_other_header(first.line, options.log);
    bodies.push_back(behind(sources[part], heads[part] ? heads[part]->header_bytes
                                           : skipped   ? first.end
                                                       : first.begin));
  }
  ReadOptions of_lines = options;
  if (has_names(options.log)) of_lines.log = {.form = options.log.form, .in_order = options.log.in_order};
  const LogLayout plain =
      named != nullptr ? *named : layout_of_lines(bodies, of_lines, known, chunk_bytes, found.warnings);
  for (std::size_t part = 0; part < heads.size(); ++part) {
    found.parts.push_back(heads[part].value_or(plain));
    found.parts.back().header_bytes = sources[part].text.size() - bodies[part].text.size();
  }
  const std::string_view head = sources.front().text.substr(0, found.parts.front().header_bytes);
  std::string joined = log_names_warning(bodies.front(), found.parts.front(),
                                         static_cast<std::size_t>(std::ranges::count(head, '\n')));
  if (!joined.empty()) found.warnings.push_back(std::move(joined));
  for (std::size_t part = 0; part < heads.size(); ++part) {
    std::string again;
    if (heads[part]) again = second_header_warning(sources[part], found.parts[part].header_bytes);
    if (again.empty()) continue;
    found.warnings.push_back(std::move(again));
    break;
  }
  return found;
}

}  // namespace slide
