// Report of a reading, besides the rows. Not thread-safe; readers fill it after their threads have finished.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "datasets/row_parser.h"
#include "engine/base/error.h"

namespace slide {

// An error in a line of text, numbered from 1.
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

  std::uint64_t bad_rows = 0;          // malformed rows, skipped
  std::vector<std::string> first;      // descriptions of the first kShown of them
  std::uint64_t unknown_features = 0;  // in text: occurrences of words and n-grams unknown to the model
  std::uint64_t unknown_labels = 0;    // and of unknown labels

  // Adds the report of a reading of further data.
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
