#include "datasets/text/label_cells.h"

#include <fmt/format.h>

#include <algorithm>

#include "datasets/rows/labelled_line.h"
#include "engine/base/foreign_text.h"
#include "engine/base/number_text.h"

namespace slide {

namespace {

// ['a', 'b'], ("a", "b") or {'a', 'b'}.
bool is_python_list(std::string_view cell) {
  constexpr std::string_view kOpening = "[({", kClosing = "])}";
  if (cell.size() < 2) return false;
  const std::size_t kind = kOpening.find(cell.front());
  if (kind == std::string_view::npos || cell.back() != kClosing[kind]) return false;
  const bool is_square = cell.front() == '[';  // other brackets may belong to a name, unless they hold quotes
  const std::string_view inner = trimmed(cell.substr(1, cell.size() - 2));
  if (inner.empty()) return is_square;
  const bool quoted = inner.front() == '\'' || inner.front() == '"';
  return quoted ? inner.find(inner.front(), 1) != std::string_view::npos : is_square;
}

// <http://x/1> <http://x/2>
bool is_uris(std::string_view cell) {
  return cell.starts_with('<') && cell.ends_with('>') && cell.find("> <") != std::string_view::npos;
}

// NAME:0.5
bool has_weight(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  return colon != std::string_view::npos && colon > 0 && is_decimal(name.substr(colon + 1));
}

// Something on both sides.
bool is_parted_by(std::string_view cell, std::string_view separator) {
  const std::size_t at = cell.find(separator);
  return at != std::string_view::npos && at > 0 && at + separator.size() < cell.size();
}

}  // namespace

bool is_decimal_whole(std::string_view text) {
  const std::size_t end = text.find_first_not_of(kDigits);
  return end != 0 && end != std::string_view::npos && text.substr(end) == ".0";
}

bool is_decimal(std::string_view text) {
  const std::size_t point = text.find_first_not_of(kDigits);
  return text.size() > 1 && point != std::string_view::npos && text[point] == '.' &&
         text.find_first_not_of(kDigits, point + 1) == std::string_view::npos;
}

void KindOfCell::add(std::string_view cell, std::uint64_t at) {
  if (cells++ > 0) return;
  line = at;
  first = shown_part(cell);
}

// Counts a cell of labels once, where it is in quotes or one of its names ends in a weight.
void LabelNames::add(std::string_view cell, std::uint64_t line, std::string_view separator) {
  ++cells_;
  if (cell.size() > 2 && cell.front() == '"' && cell.back() == '"') return quoted_.add(cell, line);
  while (true) {
    const std::size_t end = separator.empty() ? cell.size() : std::min(cell.find(separator), cell.size());
    const std::string_view name = trimmed(cell.substr(0, end));
    if (has_weight(name)) return weighted_.add(name, line);
    if (end == cell.size()) return;
    cell.remove_prefix(end + separator.size());
  }
}

std::string LabelNames::warning(const std::string& origin) const {
  if (weighted_.cells > 0 && weighted_.cells * 2 >= cells_) {
    const std::string& name = weighted_.first;
    return fmt::format(
        "{}:{}: the label '{}' looks like a name with a weight, and all of it is read as the name; "
        "write '{}': data.sample_weights weighs samples and data.label_weights labels, but no label of a "
        "single sample",
        origin, weighted_.line, name, name.substr(0, name.rfind(':')));
  }
  if (quoted_.cells == 0 || quoted_.cells * 2 < cells_) return {};
  return fmt::format(
      "{}:{}: the labels stand in quotes, {}, which become part of the names; "
      "write them without, or make it a table: a first line of column names, data.text and data.labels, "
      "where quotes are removed",
      origin, quoted_.line, quoted_.first);
}

// Counts cells by each form of label that is probably misread; warning() judges by the counts.
void LabelCells::add(std::string_view cell, std::uint64_t line) {
  cell = trimmed(cell);
  if (cell.empty()) return;
  ++cells_;
  names_.add(cell, line, separator_);
  if (is_python_list(cell)) return lists_.add(cell, line);
  if (is_decimal_whole(cell)) decimals_.add(cell, line);
  if (cell.find(separator_) != std::string_view::npos) ++separated_;
  if (is_uris(cell)) uris_.add(cell, line);
  for (std::size_t i = 0; i < kOthers.size(); ++i) {
    if (is_parted_by(cell, {&kOthers[i], 1})) others_[i].add(cell, line);
  }
}

std::string LabelCells::warning(const std::string& origin) const {
  if (lists_.cells * 2 >= cells_ && lists_.cells > 0) {
    return fmt::format(
        "{}:{}: the labels look like a list as Python writes it, {}, brackets and quotes become part of "
        "names; "
        "join them by data.label_separator ({}), or write JSON lines, whose labels may be lists",
        origin, lists_.line, lists_.first, shown_part(separator_));
  }
  if (decimals_.cells == cells_ && cells_ > 0) {
    return fmt::format(
        "{}:{}: the labels look like whole numbers that became decimals, {}, as pandas writes a column with "
        "empty cells; '{}' in another file is another name: write whole numbers (astype('Int64'))",
        origin, decimals_.line, decimals_.first, decimals_.first.substr(0, decimals_.first.size() - 2));
  }
  if (std::string names = names_.warning(origin); !names.empty()) return names;
  if (separated_ > 0) return {};
  if (uris_.cells > 0 && separator_ != " ") {
    return fmt::format(
        "{}:{}: the labels look parted by blanks, {}, and are read as one; set 'data.label_separator= '",
        origin, uris_.line, uris_.first);
  }
  for (std::size_t i = 0; i < kOthers.size(); ++i) {
    const KindOfCell& kind = others_[i];
    // Doubts the configured separator where no label has it and most labels have another separator.
    const bool many = separator_ == "," ? kind.cells * 10 >= cells_ : kind.cells * 2 >= cells_;
    if (kind.cells == 0 || !many || separator_ == std::string_view(&kOthers[i], 1)) continue;
    return fmt::format(
        "{}:{}: the labels look parted by '{}', {}, and are read as one: no label of the first lines has the "
        "separator '{}'; set 'data.label_separator={}'",
        origin, kind.line, kOthers[i], kind.first, shown_part(separator_), kOthers[i]);
  }
  return {};
}

}  // namespace slide
