// Checks whether a text, read as lines NAME,NAME<TAB>text, probably has other columns. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "datasets/rows/text_source.h"

namespace slide {

class ColumnLook {
 public:
  void add(std::string_view line, std::uint64_t number);
  // A warning, or "": the first line is a header, ids precede the labels, or labels follow the text.
  // `separator`: of labels.
  std::string warning(const std::string& origin, std::string_view separator) const;

 private:
  // Statistics of a column.
  struct Column {
    std::unordered_set<std::string> distinct;
    std::size_t cells = 0, words = 0, numbers = 0, uris = 0, parted = 0;
    std::string first;
    void add(std::string_view cell);
    bool is_unique() const { return distinct.size() == cells; }
    bool repeats() const { return distinct.size() < cells; }
    double words_of_cell() const { return cells == 0 ? 0 : double(words) / double(cells); }
  };
  std::string header_warning(const std::string& origin) const;

  std::vector<std::string> head_;  // cells of the first line
  std::uint64_t first_line_ = 0;   // its number
  std::size_t lines_ = 0;
  std::size_t like_head_ = 0;          // further lines with the same first cell as the first line
  std::size_t fewest_ = 0, most_ = 0;  // min and max cells of a line
  std::vector<Column> columns_;        // the first three
};

// A warning that the names of columns, the first `head_bytes` of the text, stand in it a second time, as
// where files were put one behind the other; or nothing.
std::string second_head_warning(const TextSource& source, std::size_t head_bytes);

}  // namespace slide
