#include "datasets/text/plain_text_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>

#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/text_encoding.h"
#include "datasets/text/column_names.h"
#include "datasets/text/table.h"

namespace slide {

namespace {

constexpr std::size_t kLookedBytes = std::size_t{1} << 16;
constexpr std::size_t kLookedLines = 100;
constexpr std::size_t kMaxNameBytes = 32;  // of a column

bool is_object(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('{') || !line.ends_with('}')) return false;
  const std::string_view inside = trimmed(line.substr(1));
  return inside.starts_with('"') || inside.starts_with('}');
}

// Whether a field may name a column: a short word of letters, digits and underscores.
bool is_name(std::string_view field) {
  if (field.empty() || field.size() > kMaxNameBytes ||
      std::isdigit(static_cast<unsigned char>(field[0])) != 0)
    return false;
  return std::ranges::all_of(
      field, [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; });
}

// Whether a line names two columns or more, one of them by a usual name.
bool names_columns(std::string_view line, char delimiter) {
  std::size_t fields = 0;
  bool usual = false;
  for (std::string_view rest = trimmed(line);;) {
    const std::size_t end = std::min(rest.find(delimiter), rest.size());
    std::string_view field = rest.substr(0, end);
    if (field.size() > 1 && field.front() == '"' && field.back() == '"')
      field = field.substr(1, field.size() - 2);
    if (!is_name(field)) return false;
    usual = usual || usual_use(field);
    ++fields;
    if (end == rest.size()) break;
    rest.remove_prefix(end + 1);
  }
  return fields > 1 && usual;
}

// What the first lines of a text show. Numbers of lines count from 1.
struct LinesLook {
  std::size_t lines = 0;          // that are not blank
  std::size_t first_line = 0;     // its number
  std::size_t objects = 0;        // lines that look like an object of JSON
  std::size_t first_object = 0;   // number of the first one
  std::optional<char> delimiter;  // of a first line that names columns
  std::size_t delimited = 0;      // further lines that have it
};

// Counts lines that look like JSON objects, or have the delimiter of a first line of column names.
LinesLook look_at_lines(std::string_view text) {
  LinesLook look;
  for (std::size_t number = 1; !text.empty() && look.lines < kLookedLines; ++number) {
    const std::string_view line = take_line(text);
    if (is_blank_line(line)) continue;
    if (look.lines++ == 0) {
      look.first_line = number;
      constexpr std::string_view kDelimiters = ",;\t";
      const auto found = std::ranges::find_if(kDelimiters, [&](char c) { return names_columns(line, c); });
      if (found != kDelimiters.end()) look.delimiter = *found;
    } else if (look.delimiter) {
      look.delimited += line.find(*look.delimiter) != std::string_view::npos ? 1 : 0;
    }
    if (is_object(line) && look.objects++ == 0) look.first_object = number;
  }
  return look;
}

}  // namespace

std::string plain_text_warning(std::string_view head, const std::string& origin, std::string_view columns) {
  const std::string read = columns.empty() ? "the model was trained on lines of text"
                                           : fmt::format("the model reads the column '{}'", columns);
  const LinesLook look = look_at_lines(without_byte_order_mark(head.substr(0, kLookedBytes)));
  if (2 * look.objects > look.lines) {
    return fmt::format(
        "{}:{}: the line looks like an object of JSON, as {} of the first {} do, and all of it is read as "
        "text, keys and braces too; {}, so give {}",
        origin, look.first_object, look.objects, look.lines, read,
        columns.empty() ? "the texts alone, one a line" : "objects with its key, one a line");
  }
  const bool has_names = look.delimiter && 2 * look.delimited > look.lines - 1;
  const bool is_named = table_format_of_name(origin).has_value();
  if (look.lines == 0 || (!has_names && !is_named)) return {};
  return fmt::format(
      "{}:{}: the file looks like a table by its {}, and all of it is read as text, {}; {}, so give {}",
      origin, look.first_line, has_names ? "first line" : "ending",
      has_names ? "names of columns and separators too" : "separators too", read,
      columns.empty() ? "the texts alone, one a line" : "a table with this column");
}

}  // namespace slide
