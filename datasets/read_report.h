// What a reading tells beside the rows. Not thread-safe; readers fill it in once their threads are done.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "datasets/row_parser.h"
#include "engine/base/error.h"

namespace slide {

// A fault in a line of a text, which are numbered from 1.
struct PlacedFault {
  std::uint64_t line = 0;
  RowFault fault;
};

// "FILE:LINE:COLUMN: what".
inline std::string described(const std::string& origin, const PlacedFault& fault) {
  return one_line(fmt::format("{}:{}:{}: {}", origin, fault.line, fault.fault.column, fault.fault.message));
}

struct ReadReport {
  static constexpr std::size_t kShown = 5;

  std::uint64_t bad_rows = 0;          // left out because there is a fault in them
  std::vector<std::string> first;      // what is wrong, described, with the first kShown of them
  std::uint64_t unknown_features = 0;  // in text: words and n-grams that the text model does not know,
  std::uint64_t unknown_labels = 0;    // and labels; each as often as it is there

  // What another reading tells, of what follows.
  void add(const ReadReport& other) {
    bad_rows += other.bad_rows;
    unknown_features += other.unknown_features;
    unknown_labels += other.unknown_labels;
    for (const std::string& fault : other.first) add_shown(fault);
  }

  void add_shown(std::string fault) {
    if (first.size() < kShown) first.push_back(std::move(fault));
  }
};

}  // namespace slide
