#include "engine/run/item_titles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "datasets/rows/file_bytes.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/text_encoding.h"
#include "datasets/text/text_model.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"

namespace slide {

namespace {

// What separates the fields of a line: TABs or "::" where it has them, else what comes first.
std::string_view separator_of(std::string_view line) {
  for (const std::string_view sure : {"\t", "::"}) {
    if (line.find(sure) != std::string_view::npos) return sure;
  }
  const std::size_t at = line.find_first_of("|,;");
  return at == std::string_view::npos ? "\t" : line.substr(at, 1);
}

// Takes the next field off a line; two quotes in a quoted one stand for one.
std::string take_field(std::string_view& line, std::string_view separator) {
  std::string field;
  if (line.starts_with('"')) {
    for (line.remove_prefix(1); !line.empty(); line.remove_prefix(1)) {
      if (line.starts_with("\"\""))
        line.remove_prefix(1);
      else if (line.front() == '"')
        break;
      field += line.front();
    }
  }
  const std::size_t end = std::min(line.find(separator), line.size());
  if (field.empty()) field = trimmed(line.substr(0, end));
  line.remove_prefix(std::min(end + separator.size(), line.size()));
  return field;
}

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

ItemTitles::ItemTitles(const Model& model, const std::string& path) {
  if (model.text == nullptr)
    fail_input("{}: titles belong to names, and the labels of this model have none; leave --titles out",
               path);
  const FileBytes file(path);
  std::string converted;
  std::string_view rest = without_byte_order_mark(file.text());
  if (first_no_utf8(rest)) {
    note_ = fmt::format("{}: is not UTF-8; read as Latin-1", path);
    rest = converted = utf8_of_latin1(rest);
  }
  titles_.resize(model.network.labels());
  const std::string_view separator = separator_of(rest.substr(0, rest.find('\n')));
  std::size_t found = 0;
  while (!rest.empty()) {
    std::string_view line = take_line(rest);
    const std::string name = take_field(line, separator);
    const std::optional<std::uint32_t> label = model.text->label_id(name);
    std::string title = take_field(line, separator);
    std::ranges::replace_if(
        title, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
    if (!label || title.empty()) continue;
    titles_[*label] = std::move(title);
    ++found;
  }
  if (found == 0)
    fail_input("{}: no line has an item of the model and its title; write 'ITEM<TAB>TITLE'", path);
}

}  // namespace slide
