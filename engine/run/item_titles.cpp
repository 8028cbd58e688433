#include "engine/run/item_titles.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "datasets/rows/file_bytes.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/row_parser.h"
#include "datasets/rows/text_encoding.h"
#include "datasets/text/log_fields.h"
#include "datasets/text/text_model.h"
#include "engine/base/error.h"
#include "engine/base/number_text.h"

namespace slide {

namespace {

constexpr std::size_t kFewTitles = 2;  // under half of the items: worth a note

// The separator of the fields of a line: TAB or "::" where the line has them, else the first of "|,;".
Separator separator_of(std::string_view line) {
  if (line.find('\t') != std::string_view::npos) return Separator::kTab;
  if (line.find("::") != std::string_view::npos) return Separator::kColons;
  const std::size_t at = line.find_first_of("|,;");
  if (at == std::string_view::npos) return Separator::kTab;
  return line[at] == '|' ? Separator::kBar : line[at] == ',' ? Separator::kComma : Separator::kSemicolon;
}

bool is_number(const std::string& title) {
  return number_of<double>(title).has_value();
}

// Latin-1 bytes are code points; those from 0x80 on take two bytes in UTF-8.
std::string utf8_of_latin1(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      result += c;
    } else {
      result += static_cast<char>(0xc0 | byte >> 6);
      result += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return result;
}

}  // namespace

ItemTitles::ItemTitles(const Model& model, const std::string& path) : titles_(model.network.labels()) {
  if (model.text == nullptr)
    fail_input("{}: titles belong to names, and the labels of this model have none; leave --titles out",
               path);
  const FileBytes file(path);
  std::string converted;
  std::string_view text = without_byte_order_mark(file.text());
  if (first_no_utf8(text)) {
    note_ = fmt::format("{}: is not UTF-8; read as Latin-1", path);
    text = converted = utf8_of_latin1(text);
  }
  check_titles(read_titles(text, *model.text, path), path);
}

// Sets the titles of the items that the lines name, the last one of each.
ItemTitles::Lines ItemTitles::read_titles(std::string_view rest, const TextModel& items,
                                          const std::string& path) {
  const Separator separator = separator_of(rest.substr(0, rest.find('\n')));
  std::vector<std::string_view> fields;
  Lines lines;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    UnquotedNames unquoted;
    try {
      cut_fields(take_line(rest), separator, fields, unquoted);
    } catch (const RowFault& fault) {
      fail_input("{}:{}:{}: {}", path, number, fault.column, fault.message);
    }
    if (fields.size() < 2 || fields[1].empty()) continue;
    const std::optional<std::uint32_t> label = items.label_id(fields[0]);
    if (!label) continue;
    std::string& title = titles_[*label];
    lines.changed += !title.empty() && title != fields[1] ? 1 : 0;
    ++lines.titled;
    title = fields[1];
    std::ranges::replace_if(
        title, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
  }
  return lines;
}

// Refuses a file without a title; warns where titles look like numbers or change as in a log; notes where few
// items have one.
void ItemTitles::check_titles(const Lines& lines, const std::string& path) {
  const auto found = static_cast<std::size_t>(
      std::ranges::count_if(titles_, [](const std::string& title) { return !title.empty(); }));
  if (found == 0)
    fail_input("{}: no line has an item of the model and its title; write 'ITEM<TAB>TITLE'", path);
  const auto numbers = static_cast<std::size_t>(std::ranges::count_if(titles_, is_number));
  if (2 * numbers > found)
    warning_ = fmt::format("titles of --titles {} look like numbers: {} of {}, as '{}'", path, numbers, found,
                           *std::ranges::find_if(titles_, is_number));
  else if (2 * lines.changed > lines.titled)
    warning_ = fmt::format(
        "titles of --titles {} change from line to line, as in a log: {} of {} lines have another "
        "than a line before",
        path, lines.changed, lines.titled);
  if (!warning_.empty()) warning_ += "; write an item and its title a line, 'ITEM<TAB>TITLE'";
  if (kFewTitles * found < titles_.size())
    note_ += fmt::format("{}: {} of {} items {} a title", note_.empty() ? path : std::string("; ") + path,
                         found, titles_.size(), found == 1 ? "has" : "have");
}

}  // namespace slide
