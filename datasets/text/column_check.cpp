#include "datasets/text/column_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "datasets/rows/labelled_line.h"
#include "datasets/text/column_names.h"
#include "datasets/text/label_cells.h"
#include "engine/base/foreign_text.h"
#include "engine/base/number_text.h"

namespace slide {

namespace {

constexpr std::size_t kMaxColumns = 3;
constexpr std::size_t kMinLines = 3;   // fewer lines are not checked
constexpr std::size_t kMaxHeader = 8;  // names of columns

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t tab = std::min(line.find('\t'), line.size());
    cells.push_back(trimmed(line.substr(0, tab)));
    if (tab == line.size()) return cells;
    line.remove_prefix(tab + 1);
  }
}

}  // namespace

// Counts what tells a column of labels from one of texts: words, distinct cells, numbers, URIs, separators.
void ColumnCheck::Column::add(std::string_view cell) {
  if (cells++ == 0) first = shown_part(cell);
  distinct.emplace(cell);
  bool in_word = false;
  for (const char c : cell) {
    words += c != ' ' && !in_word ? 1 : 0;
    in_word = c != ' ';
  }
  numbers += is_digits(cell) ? 1 : 0;
  uris += cell.starts_with("<http") && cell.ends_with('>') ? 1 : 0;
  with_separator += cell.find_first_of(",;|") != std::string_view::npos ? 1 : 0;
}

// The first line is kept as a possible header; like_header_ counts later lines with its first cell.
void ColumnCheck::add(std::string_view line, std::uint64_t number) {
  const std::vector<std::string_view> cells = cells_of(line);
  if (lines_++ == 0) {
    header_.assign(cells.begin(), cells.end());
    first_line_ = number;
    min_cells_ = max_cells_ = cells.size();
    columns_.resize(std::min(cells.size(), kMaxColumns));
  } else if (cells.front() == header_.front()) {
    ++like_header_;
  }
  min_cells_ = std::min(min_cells_, cells.size());
  max_cells_ = std::max(max_cells_, cells.size());
  for (std::size_t i = 0; i < std::min(cells.size(), columns_.size()); ++i) columns_[i].add(cells[i]);
}

// Warns where the first line looks like a header: all cells are usual column names, and one
// of them names labels or texts; or there is a name of each.
std::string ColumnCheck::header_warning(const std::string& origin) const {
  if (lines_ < 2 || header_.size() < 2 || header_.size() > kMaxHeader || like_header_ > 0) return {};
  std::string label, text;
  std::size_t known = 0;
  for (const std::string& cell : header_) {
    const auto use = usual_use(cell);
    if (use == ColumnUse::kLabels && label.empty()) label = cell;
    if (use == ColumnUse::kText && text.empty()) text = cell;
    known += use ? 1 : 0;
  }
  const bool names_both = !label.empty() && !text.empty(), names_one = !label.empty() || !text.empty();
  const bool all_known = known == header_.size();
  if (!names_both && !(all_known && names_one)) return {};
  const std::string keys = names_both ? fmt::format("data.text={} and data.labels={}", text, label)
                                      : "data.text=... and data.labels=...";
  return fmt::format(
      "{}:{}: this looks like the names of columns ({}), but is read as a sample; set {}, or remove the line",
      origin, first_line_, shown_part(fmt::format("{}", fmt::join(header_, ", "))), keys);
}

std::string ColumnCheck::warning(const std::string& origin, std::string_view separator) const {
  if (std::string header = header_warning(origin); !header.empty()) return header;
  if (lines_ < kMinLines || min_cells_ < 2 || min_cells_ != max_cells_) return {};
  const Column &first = columns_[0], &second = columns_[1];
  // Labels are short and occur again; texts have more words and seldom occur again; ids are single words.
  constexpr double kMaxLabelWords = 5;
  const bool first_has_words_or_numbers = first.numbers == lines_ || first.words == lines_;
  const bool first_is_id = first.is_unique() && first_has_words_or_numbers && first.with_separator == 0;
  const bool second_is_short = second.words_of_cell() <= kMaxLabelWords && !second.first.empty();
  if (max_cells_ >= 3 && first_is_id && second_is_short && second.repeats() &&
      second.words_of_cell() < columns_[2].words_of_cell()) {
    return fmt::format(
        "{}:{}: there are {} columns, and the second looks like the labels ({}), but the first is read as "
        "them "
        "({}) and the others as text; remove the first, or write a line of names first and set data.text and "
        "data.labels",
        origin, first_line_, max_cells_, second.first, first.first);
  }
  const bool longer = first.words_of_cell() >= 2 && first.words_of_cell() > second.words_of_cell();
  const bool far_longer = first.words_of_cell() >= 3 && first.words_of_cell() >= 3 * second.words_of_cell();
  const bool first_is_text = (longer && first.has_distinct(0.9)) || (far_longer && first.has_distinct(0.5));
  const bool second_is_label = second_is_short && (second.repeats() || second.uris * 2 > lines_);
  if (first_is_text && second_is_label) {
    return fmt::format(
        "{}:{}: the second column looks like the labels ({}) and the first like text, but "
        "LABEL{}LABEL<TAB>TEXT is "
        "read; change their places, or write a line of names first and set data.text and data.labels",
        origin, first_line_, second.first, separator);
  }
  return {};
}

void NumberTexts::add(std::string_view text, std::uint64_t line) {
  text = trimmed(text);
  if (text.empty()) return;
  if (texts_++ == 0) line_ = line, first_ = shown_part(text);
  const bool has_sign = text.starts_with('-') || text.starts_with('+');
  decimals_ += is_decimal(text.substr(has_sign ? 1 : 0)) ? 1 : 0;
}

std::string NumberTexts::warning(const std::string& origin) const {
  if (texts_ < kMinLines || decimals_ < texts_) return {};
  return fmt::format(
      "{}:{}: the texts are decimal numbers, {}, and their digits are read as words; "
      "check which column holds the text, or give numbers as features (lines of id:value, or .npy)",
      origin, line_, first_);
}

// Warns where the header line occurs again in the text, as in files that were joined with their headers.
std::string second_header_warning(const TextSource& source, std::size_t header_bytes) {
  const std::string_view head = trimmed(without_byte_order_mark(source.text.substr(0, header_bytes)));
  if (head.empty() || head.find('\n') != std::string_view::npos) return {};
  const std::string again = fmt::format("\n{}", head);
  const std::size_t at = source.text.find(again, header_bytes - 1);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = source.text.substr(at + again.size());
  if (!rest.empty() && rest.front() != '\r' && rest.front() != '\n') return {};
  return fmt::format(
      "{}:{}: the names of the columns stand here once more and are read as a sample; remove the line, or "
      "name the files that were joined by a pattern",
      source.origin, 2 + std::ranges::count(source.text.substr(0, at), '\n'));
}

}  // namespace slide
