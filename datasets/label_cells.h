// What the labels of a text look like before they are parted: cells of a column, in the order of their lines.
// For one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace slide {

class LabelCells {
 public:
  explicit LabelCells(std::string separator) : separator_(std::move(separator)) {}

  void add(std::string_view cell, std::uint64_t line);
  // A warning, or nothing: lists as Python writes them, or labels parted by something else than the
  // separator.
  std::string warning(const std::string& origin) const;

 private:
  // How many cells are of a kind, and the first of them.
  struct Kind {
    std::size_t cells = 0;
    std::uint64_t line = 0;
    std::string first;
    void add(std::string_view cell, std::uint64_t at);
  };
  static constexpr std::array<char, 3> kOthers = {'|', ';', ','};

  std::string separator_;
  std::size_t cells_ = 0, parted_ = 0;
  Kind lists_, uris_;
  std::array<Kind, kOthers.size()> others_;
};

}  // namespace slide
