#include "datasets/formats/log_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "datasets/formats/npz.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/row_parser.h"
#include "datasets/rows/text_encoding.h"
#include "datasets/text/label_cells.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"

namespace slide {

namespace {

constexpr std::size_t kLookedLogLines = 1000;
constexpr std::size_t kHeadOfBinary = 4096;  // bytes in which a file without text has a zero

// Whether the item is a list in brackets, or several names separated by bars or semicolons. Links, which may
// contain such characters after '?' or '&', are none.
bool looks_like_several(std::string_view item) {
  const bool in_brackets = item.size() > 2 && ((item.front() == '[' && item.back() == ']') ||
                                               (item.front() == '{' && item.back() == '}'));
  if (in_brackets) return item.find_first_of(",'\"") != std::string_view::npos;
  const std::size_t at = item.find_first_of("|;");
  return at != std::string_view::npos && at > 0 && at + 1 < item.size() &&
         item.find_first_of("?&") == std::string_view::npos;
}

// What the first lines of a log show of its names.
struct NamesLook {
  std::size_t lines = 0;
  KindOfCell decimals;  // lines whose user, or else first item, is a whole number that became a decimal
  KindOfCell joined;    // lines with an item that looks like several
};

// Looks at the first kLookedLogLines lines for ids such as 7.0, and for fields that look like several items.
NamesLook look_at_names(const TextSource& body, const LogLayout& layout, std::size_t lines_before) {
  NamesLook look;
  std::vector<std::string_view> fields;
  UnquotedNames unquoted;
  const bool pairs = layout.form == TextForm::kItemPairs;
  const std::size_t user = pairs ? layout.columns.user : 0, first_item = pairs ? layout.columns.item : 1;
  std::size_t number = lines_before;
  for (std::string_view rest = body.text; !rest.empty() && look.lines < kLookedLogLines;) {
    const std::string_view line = take_line(rest);
    ++number;
    if (is_blank_line(line)) continue;
    if (!try_cut_fields(line, layout.separator, fields, unquoted)) continue;  // the reader reports it
    const std::size_t end = pairs ? first_item + 1 : fields.size();
    if (fields.size() < std::max({end, first_item, user + 1})) continue;
    ++look.lines;
    const auto items = std::span(fields).subspan(first_item, end - first_item);
    if (is_decimal_whole(fields[user])) {
      look.decimals.add(fields[user], number);
    } else if (!items.empty() && is_decimal_whole(items.front())) {
      look.decimals.add(items.front(), number);
    }
    const auto item = std::ranges::find_if(items, looks_like_several);
    if (item != items.end()) look.joined.add(*item, number);
  }
  return look;
}

// Throws InputError for JSON: a text that begins with an object and its first key, or an array of objects.
void refuse_json_log(const TextSource& source) {
  std::string_view text = without_byte_order_mark(source.text);
  const auto skip_blanks = [&] {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  };
  skip_blanks();
  if (!text.starts_with('{') && !text.starts_with('[')) return;
  const bool object = text.front() == '{';
  text.remove_prefix(1);
  skip_blanks();
  if (!text.starts_with(object ? '"' : '{')) return;
  fail_input(
      "{}:1:1: this is JSON; a log of interactions has lines 'user item [weight [time]]', or columns that "
      "the first line names: write such a file (jq -r '[.user, .item] | @csv')",
      source.origin);
}

}  // namespace

void refuse_foreign_log(const TextSource& source) {
  refuse_json_log(source);
  if (source.text.substr(0, kHeadOfBinary).find('\0') == std::string_view::npos) return;
  if (is_npz(source.text))
    fail_input("{}:1:1: this is a zip archive; unpack it and name a file of it", source.origin);
  if (const auto wide = wide_encoding(source.text))
    fail_input("{}:1:1: this is {}", source.origin, in_wide_encoding(*wide));
  fail_input("{}:1:1: this is binary data; check the path of the data", source.origin);
}

// Warns where all lines have ids such as 7.0, or nine tenths have several items in one field.
std::string log_names_warning(const TextSource& body, const LogLayout& layout, std::size_t lines_before) {
  const auto [lines, decimals, joined] = look_at_names(body, layout, lines_before);
  if (lines > 0 && decimals.cells == lines) {
    return fmt::format(
        "{}:{}: ids look like whole numbers that became decimals, '{}', as pandas writes a column with empty "
        "cells; '{}' in another file is another name: write whole numbers (astype('Int64'))",
        body.origin, decimals.line, decimals.first, decimals.first.substr(0, decimals.first.size() - 2));
  }
  if (lines == 0 || 10 * joined.cells < 9 * lines) return {};
  return fmt::format(
      "{}:{}: '{}' is read as one item; where it is several, write a line for each, or a user and its items "
      "with blanks between them",
      body.origin, joined.line, joined.first);
}

}  // namespace slide
