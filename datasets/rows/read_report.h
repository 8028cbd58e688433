// Errors and warnings from reading a data set. Not thread-safe; readers fill it after their threads have
// finished.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "datasets/rows/row_parser.h"
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
  static constexpr std::size_t kMaxWarnings = 16;

  std::uint64_t bad_rows = 0;      // malformed rows, skipped
  std::vector<std::string> first;  // descriptions of the first kShown malformed rows
  // Numbers of occurrences that the model does not know: features (of text: words), which are left out;
  // labels of text.
  std::uint64_t unknown_features = 0;
  std::uint64_t unknown_labels = 0;
  // Content that is probably misread, one line each: "FILE:LINE: what it looks like; remedy".
  std::vector<std::string> warnings;

  // Adds the report of further data.
  void add(const ReadReport& other) {
    bad_rows += other.bad_rows;
    unknown_features += other.unknown_features;
    unknown_labels += other.unknown_labels;
    for (const std::string& fault : other.first) add_shown(fault);
    for (const std::string& warning : other.warnings) add_warning(warning);
  }

  // Keeps each warning once, and at most kMaxWarnings.
  void add_warning(std::string warning) {
    warning = one_line(std::move(warning));
    if (warnings.size() < kMaxWarnings && std::ranges::find(warnings, warning) == warnings.end())
      warnings.push_back(std::move(warning));
  }

  void add_shown(std::string fault) {
    if (first.size() < kShown) first.push_back(std::move(fault));
  }
};

}  // namespace slide
