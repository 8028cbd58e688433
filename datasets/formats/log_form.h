// Layout of the lines of an interaction log, and range of its times. Plain values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "datasets/formats/log_columns.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/text/log_fields.h"

namespace slide {

// Layout of one part (file) of a log.
struct LogLayout {
  TextForm form = TextForm::kItemLists;
  Separator separator = Separator::kBlanks;
  std::size_t header_bytes = 0;  // length of the header line and of blank lines before it; 0 without header
  std::size_t fields = 0;        // kItemPairs: number of fields of a line
  PairColumns columns;           // kItemPairs
};

// Range of the times of a log's interactions.
struct LogTimes {
  double first = std::numeric_limits<double>::infinity();
  double last = -std::numeric_limits<double>::infinity();
  std::array<std::uint64_t, kTimeUnits + 1> units{};  // entries by unit; the last: no unit fits

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
  // Whether entries have times in different units, as seconds and milliseconds.
  bool mixes_units() const {
    return std::count_if(units.begin(), units.end() - 1, [](std::uint64_t n) { return n > 0; }) > 1;
  }
};

// Layout of a log that another part of it has shown already.
struct KnownLog {
  TextForm form = TextForm::kItemLists;
  std::size_t fields = 0;                // kItemPairs: number of fields of a line; 0: unknown
  std::optional<Separator> separator{};  // between these; none: unknown
};

}  // namespace slide
