// Checks the label column of a text for lists in brackets or another separator than the configured one.
// For one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace slide {

// 10.0, as pandas writes whole numbers of a column with empty cells.
bool is_decimal_whole(std::string_view text);

class LabelCells {
 public:
  explicit LabelCells(std::string separator) : separator_(std::move(separator)) {}

  // Adds a cell of the label column, in order of lines.
  void add(std::string_view cell, std::uint64_t line);
  // A warning, or "": cells are lists as Python prints them, labels are divided by another separator, or all
  // are whole numbers written as decimals.
  std::string warning(const std::string& origin) const;

 private:
  // Number of cells of a kind, and the first one.
  struct Kind {
    std::size_t cells = 0;
    std::uint64_t line = 0;
    std::string first;
    void add(std::string_view cell, std::uint64_t at);
  };
  static constexpr std::array<char, 3> kOthers = {'|', ';', ','};

  std::string separator_;
  std::size_t cells_ = 0, parted_ = 0;
  Kind lists_, uris_, decimals_;
  std::array<Kind, kOthers.size()> others_;
};

}  // namespace slide
