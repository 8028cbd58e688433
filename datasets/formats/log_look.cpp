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

void refuse_json_log(const TextSource& source) {
  std::string_view text = without_byte_order_mark(source.text);
  const auto skip = [&] { text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size())); };
  skip();
  if (!text.starts_with('{') && !text.starts_with('[')) return;
  const bool object = text.front() == '{';
  text.remove_prefix(1);
  skip();
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

std::string log_names_warning(const TextSource& body, const LogLayout& layout, std::size_t lines_before) {
  std::size_t lines = 0, joined = 0, decimals = 0, number = lines_before, first = 0, first_decimal = 0;
  std::string shown, decimal;
  std::vector<std::string_view> fields;
  UnquotedNames unquoted;
  const bool pairs = layout.form == TextForm::kItemPairs;
  for (std::string_view rest = body.text; !rest.empty() && lines < kLookedLogLines;) {
    const std::string_view line = take_line(rest);
    ++number;
    if (is_blank_line(line)) continue;
    if (!try_cut_fields(line, layout.separator, fields, unquoted)) continue;  // the reader reports it
    const std::size_t from = pairs ? layout.columns.item : 1, end = pairs ? from + 1 : fields.size();
    const std::size_t user = pairs ? layout.columns.user : 0;
    if (fields.size() < std::max({end, from, user + 1})) continue;
    ++lines;
    const auto items = std::span(fields).subspan(from, end - from);
    std::string_view id = fields[user];
    if (!is_decimal_whole(id) && !items.empty()) id = items.front();
    if (is_decimal_whole(id) && ++decimals == 1) {
      first_decimal = number;
      decimal = id;
    }
    const auto item = std::ranges::find_if(items, looks_like_several);
    if (item == items.end() || ++joined > 1) continue;
    first = number;
    shown = shown_part(*item);
  }
  if (lines > 0 && decimals == lines) {
    return fmt::format(
        "{}:{}: ids look like whole numbers that became decimals, '{}', as pandas writes a column with empty "
        "cells; '{}' in another file is another name: write whole numbers (astype('Int64'))",
        body.origin, first_decimal, decimal, decimal.substr(0, decimal.size() - 2));
  }
  if (lines == 0 || 10 * joined < 9 * lines) return {};
  return fmt::format(
      "{}:{}: '{}' is read as one item; where it is several, write a line for each, or a user and its items "
      "with blanks between them",
      body.origin, first, shown);
}

}  // namespace slide
