// What the lines of a log of interactions have in common: how many fields, and what they hold. Sums over
// lines, so their order changes nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "datasets/log_columns.h"
#include "datasets/log_fields.h"
#include "datasets/text_source.h"

namespace slide {

// Fields of one column, empty ones apart.
struct ColumnFacts {
  std::uint64_t values = 0, numbers = 0, dates = 0;
  std::array<std::uint64_t, kTimeUnits> times{};  // numbers that can be times

  bool are_numbers() const { return values > 0 && 2 * numbers >= values; }
  bool are_dates() const { return values > 0 && 2 * dates >= values; }
  // The unit that nine of ten numbers can be times in; kTimeUnits where there is none.
  std::size_t unit() const;
  bool are_times() const { return are_dates() || unit() < kTimeUnits; }
  void add(std::string_view field);
  void add(const ColumnFacts& other);
};

struct LogFacts {
  static constexpr std::size_t kMaxFields = 16;  // this many or more
  static constexpr std::size_t kColumns = 8;     // that are looked at

  std::uint64_t lines = 0;                                                         // that are not blank
  std::array<std::array<std::uint64_t, kMaxFields + 1>, kSeparators> of_fields{};  // lines, by separator
  std::array<std::uint64_t, kSeparators> first{};  // lines whose first separator it is
  std::uint64_t inner_blanks = 0;  // lines with fields, by `separator`, that hold blanks or commas
  std::array<ColumnFacts, kColumns> columns{};  // by `separator`

  void add(const LogFacts& other);
  std::uint64_t with(Separator separator) const;  // lines that have it
  // The number of fields of nine of ten lines or more; 0 where there is none.
  std::size_t common_fields(Separator separator) const;
  bool all_have(Separator separator, std::size_t fields) const;
};

// Of all lines of the texts, their fields cut by `separator`. In parallel.
LogFacts survey(std::span<const TextSource> sources, Separator separator, int threads,
                std::size_t chunk_bytes);

// Whether a user is on two lines.
bool repeats_user(std::span<const TextSource> sources, Separator separator, std::size_t column);

}  // namespace slide
