// Statistics of the lines of an interaction log: numbers of fields, and content of columns. Sums over lines,
// so the result does not depend on their order. Pure functions, plain data.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "datasets/formats/log_columns.h"
#include "datasets/rows/text_source.h"
#include "datasets/text/log_fields.h"

namespace slide {

// Numbers of fields of one column by content, without empty fields.
struct ColumnFacts {
  std::uint64_t values = 0, numbers = 0, dates = 0;
  std::array<std::uint64_t, kTimeUnits> times{};  // numbers that can be times, by unit

  bool are_numbers() const { return values > 0 && 2 * numbers >= values; }
  bool are_dates() const { return values > 0 && 2 * dates >= values; }
  // The time unit that fits nine of ten numbers; kTimeUnits where there is none.
  std::size_t unit() const;
  bool are_times() const { return are_dates() || unit() < kTimeUnits; }
  void add(std::string_view field);
  void add(const ColumnFacts& other);
};

struct LogFacts {
  static constexpr std::size_t kMaxFields = 16;  // more fields count as this many
  static constexpr std::size_t kColumns = 8;     // the first columns, which `columns` describes

  // Numbers of nonblank lines:
  std::uint64_t lines = 0;                                                         // all
  std::array<std::array<std::uint64_t, kMaxFields + 1>, kSeparators> of_fields{};  // by separator and fields
  std::array<std::uint64_t, kSeparators> first{};  // by the first separator in the line
  std::uint64_t inner_blanks = 0;                  // with blanks or commas inside a field
  std::array<ColumnFacts, kColumns> columns{};

  void add(const LogFacts& other);
  std::uint64_t with(Separator separator) const;  // lines that contain it
  // The number of fields that at least nine of ten lines have; 0 where there is none.
  std::size_t common_fields(Separator separator) const;
  bool all_have(Separator separator, std::size_t fields) const;
};

// Statistics of all lines; columns and inner_blanks with fields divided at `separator`. Runs in parallel.
LogFacts survey(std::span<const TextSource> sources, Separator separator, int threads,
                std::size_t chunk_bytes);

// Whether a value of column `column` (the user) is on two lines.
bool repeats_user(std::span<const TextSource> sources, Separator separator, std::size_t column);

}  // namespace slide
