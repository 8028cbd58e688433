// What lines of a log of interactions look like. Plain values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "datasets/labelled_line.h"
#include "datasets/log_columns.h"
#include "datasets/log_fields.h"

namespace slide {

// Of one part of a log.
struct LogLayout {
  TextForm form = TextForm::kItemLists;
  Separator separator = Separator::kBlanks;
  std::size_t head_bytes = 0;  // of a first line that names columns, and of blank ones before it
  std::size_t fields = 0;      // kItemPairs: of every line
  PairColumns columns;         // kItemPairs
};

// When a log's interactions were.
struct LogTimes {
  double first = std::numeric_limits<double>::infinity();
  double last = -std::numeric_limits<double>::infinity();
  std::array<std::uint64_t, kTimeUnits + 1> units{};  // entries of each; the last: of none

  void add(double time) {
    first = std::min(first, time);
    last = std::max(last, time);
    ++units[time_unit_of(time).value_or(kTimeUnits)];
  }
  void add(const LogTimes& other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
    for (std::size_t unit = 0; unit < units.size(); ++unit) units[unit] += other.units[unit];
  }
  bool empty() const { return last < first; }
  // Whether entries have times of several units: seconds, say, and thousandths of them.
  bool mixes_units() const {
    return std::count_if(units.begin(), units.end() - 1, [](std::uint64_t n) { return n > 0; }) > 1;
  }
};

// What is known of a log from another part of it.
struct KnownLog {
  TextForm form = TextForm::kItemLists;
  std::size_t fields = 0;  // of its pairs that are read; 0: not known
};

}  // namespace slide
