// Checks the labels of a text for lists in brackets, another separator than the configured one, weights and
// quotes. For one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace slide {

// Whether the text is a whole number with a zero fraction, such as 10.0: pandas writes integers so where a
// column has empty cells.
bool is_decimal_whole(std::string_view text);

// Whether the text is a decimal number without a sign: digits with a point among, before or after them.
bool is_decimal(std::string_view text);

// Number of cells of a kind, and the first one.
struct KindOfCell {
  std::size_t cells = 0;
  std::uint64_t line = 0;
  std::string first;
  void add(std::string_view cell, std::uint64_t at);
};

// Names of labels with a weight, as eggs:0.5, or in quotes.
class LabelNames {
 public:
  // Adds the names of a cell, in order of lines; an empty separator stands for one name.
  void add(std::string_view cell, std::uint64_t line, std::string_view separator = {});
  // A warning, or "", where half of the cells are such.
  std::string warning(const std::string& origin) const;

 private:
  std::size_t cells_ = 0;
  KindOfCell weighted_, quoted_;
};

class LabelCells {
 public:
  explicit LabelCells(std::string separator) : separator_(std::move(separator)) {}

  // Adds a cell of the label column, in order of lines.
  void add(std::string_view cell, std::uint64_t line);
  // A warning, or "": cells are lists as Python prints them, labels are divided by another separator, or all
  // are whole numbers written as decimals; or the warning of LabelNames.
  std::string warning(const std::string& origin) const;

 private:
  static constexpr std::array<char, 3> kOthers = {'|', ';', ','};

  std::string separator_;
  std::size_t cells_ = 0, separated_ = 0;  // all; with the configured separator
  LabelNames names_;
  KindOfCell lists_, uris_, decimals_;
  std::array<KindOfCell, kOthers.size()> others_;
};

}  // namespace slide
