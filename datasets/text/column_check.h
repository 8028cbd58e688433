// Checks whether a text that is read as lines LABEL,LABEL<TAB>text has other columns, probably: add() its
// first lines, then ask for the warning(). One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "datasets/rows/text_source.h"

namespace slide {

class ColumnCheck {
 public:
  void add(std::string_view line, std::uint64_t number);
  // A warning, or "": the first line is a header, ids precede the labels, or labels follow the text.
  // `separator`: of labels.
  std::string warning(const std::string& origin, std::string_view separator) const;

 private:
  // Statistics of a column.
  struct Column {
    std::unordered_set<std::string> distinct;
    std::size_t cells = 0, words = 0, numbers = 0, uris = 0, with_separator = 0;
    std::string first;
    void add(std::string_view cell);
    bool is_unique() const { return distinct.size() == cells; }
    bool has_distinct(double share) const { return double(distinct.size()) >= share * double(cells); }
    bool repeats() const { return distinct.size() < cells; }
    double words_of_cell() const { return cells == 0 ? 0 : double(words) / double(cells); }
  };
  std::string header_warning(const std::string& origin) const;

  std::vector<std::string> header_;  // cells of the first line
  std::uint64_t first_line_ = 0;     // its number
  std::size_t lines_ = 0;
  std::size_t like_header_ = 0;                // further lines with the same first cell as the first line
  std::size_t min_cells_ = 0, max_cells_ = 0;  // of a line
  std::vector<Column> columns_;                // the first three
};

// Whether all texts of a file are decimal numbers, as of a wrong column: add() the first ones. One thread at
// a time.
class NumberTexts {
 public:
  void add(std::string_view text, std::uint64_t line);
  // A warning, or "".
  std::string warning(const std::string& origin) const;

 private:
  std::size_t texts_ = 0, decimals_ = 0;
  std::uint64_t line_ = 0;  // of the first text
  std::string first_;
};

// A warning that a later line of the text repeats its header, the first `header_bytes` bytes, as in
// concatenated files; "" where none does.
std::string second_header_warning(const TextSource& source, std::size_t header_bytes);

}  // namespace slide
