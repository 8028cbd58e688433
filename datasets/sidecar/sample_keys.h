// Groups and times of samples, for the choice of validation samples, from a file or from columns of a table.
// Safe from any thread; all pure except functions with a path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"

namespace slide {

// Values of samples: the distinct values in order of first occurrence, and the index of each sample's value.
struct KeyValues {
  std::vector<std::uint32_t> ids;
  std::vector<std::string> distinct;
};
KeyValues key_values(const std::vector<std::string_view>& values);

// Words for messages: "group" or "time", and its configuration key.
struct KeyName {
  const char* thing;  // e.g. "group"
  const char* key;    // e.g. "data.group"
};
inline constexpr KeyName kGroupKey = {"group", "data.group"};
inline constexpr KeyName kTimeKey = {"time", "data.time"};

// Reads a file, plain or compressed, with one value per line (surrounding blanks removed), for each of
// `count` samples of `data`, named in messages. Throws InputError with file and line for malformed files.
KeyValues read_key_file(const std::string& path, const KeyName& name, std::size_t count,
                        const std::string& data);

// Reads the columns `group` and `time` (names in `options`; empty: none) of one or several table files, for
// the samples that a reading with `options` finds. Throws InputError where a column or value is missing, and
// for files that are not tables.
struct KeyColumns {
  KeyValues group, time;
};
KeyColumns read_key_columns(const std::string& path, const ReadOptions& options);

// Ranks of times: numeric order for numbers, order in time where all are dates as 2024-05-31T10:00:00+02:00,
// else byte order. `data` names the data set in messages. Throws InputError where numbers and texts are
// mixed, where numbers are times of several units, for dates that begin with no year, and where all are
// equal.
std::vector<std::uint32_t> ranks_of_times(const KeyValues& times, const std::string& data);

// Returns for each sample whether its time is `from` or later, in the order of ranks_of_times(). Where times
// are numbers, a date `from` counts as seconds since 1970, converted to the unit of the numbers. Throws
// InputError as ranks_of_times() does, and for a `from` of another kind.
std::vector<bool> times_from(const KeyValues& times, const std::string& from, const std::string& data);

// Returns the same samples with their positions as times, which replace existing times.
Dataset with_file_order(const Dataset& data);

}  // namespace slide
