#include "datasets/text/plain_text_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

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

}  // namespace

std::string plain_text_warning(std::string_view head, const std::string& origin, std::string_view columns) {
  std::string_view rest = without_byte_order_mark(head.substr(0, kLookedBytes));
  const std::string read = columns.empty() ? "the model was trained on lines of text"
                                           : fmt::format("the model reads the column '{}'", columns);
  std::size_t lines = 0, objects = 0, delimited = 0, number = 0, first_object = 0, first_line = 0;
  char delimiter = '\0';
  while (!rest.empty() && lines < kLookedLines) {
    const std::string_view line = take_line(rest);
    ++number;
    if (is_blank_line(line)) continue;
    if (lines++ == 0) {
      first_line = number;
      for (const char c : {',', ';', '\t'}) {
        if (delimiter == '\0' && names_columns(line, c)) delimiter = c;
      }
    } else {
      delimited += delimiter != '\0' && line.find(delimiter) != std::string_view::npos ? 1 : 0;
    }
    if (!is_object(line)) continue;
    if (objects++ == 0) first_object = number;
  }
  if (2 * objects > lines) {
    return fmt::format(
        "{}:{}: the line looks like an object of JSON, as {} of the first {} do, and all of it is read as "
        "text, keys and braces too; {}, so give {}",
        origin, first_object, objects, lines, read,
        columns.empty() ? "the texts alone, one a line" : "objects with its key, one a line");
  }
  const bool has_names = delimiter != '\0' && 2 * delimited > lines - 1;
  const bool is_named = table_format_of_name(origin).has_value();
  if (lines == 0 || (!has_names && !is_named)) return {};
  return fmt::format(
      "{}:{}: the file looks like a table by its {}, and all of it is read as text, {}; {}, so give {}",
      origin, first_line, has_names ? "first line" : "ending",
      has_names ? "names of columns and separators too" : "separators too", read,
      columns.empty() ? "the texts alone, one a line" : "a table with this column");
}

}  // namespace slide
