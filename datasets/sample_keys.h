// What samples for validation are chosen by: groups and times of samples, of a file or of columns of a table.
// Pure functions but for reading, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/read_options.h"

namespace slide {

// Values of samples: distinct ones, in the order of their first samples, and which of them each sample has.
struct KeyValues {
  std::vector<std::uint32_t> ids;
  std::vector<std::string> distinct;
};
KeyValues key_values(const std::vector<std::string_view>& values);

// What is a group or a time in messages, and the key of the configuration that names where it comes from.
struct KeyName {
  const char* thing;  // "group"
  const char* key;    // "data.group"
};
inline constexpr KeyName kGroupKey = {"group", "data.group"};
inline constexpr KeyName kTimeKey = {"time", "data.time"};

// Those of a file, plain or packed: a value a line, which blanks around it are no part of, for each of
// `count` samples of `data`, which names them in messages. Throws InputError with the file and line where
// that is not so.
KeyValues read_key_file(const std::string& path, const KeyName& name, std::size_t count,
                        const std::string& data);

// Those of the columns `group` and `time` of the table at `path`, or of several, which `options` has names
// for; a column without a name has none. Samples are those that a reading with `options` finds. Throws
// InputError where a column or a value is not there, and where this is no table.
struct KeyColumns {
  KeyValues group, time;
};
KeyColumns read_key_columns(const std::string& path, const ReadOptions& options);

// The ranks of times: of numbers by size, else of texts by their bytes. `data` names them in messages. Throws
// InputError where numbers and texts are mixed, and where all are the same.
std::vector<std::uint32_t> ranks_of_times(const KeyValues& times, const std::string& data);

// The same samples with the order that they are in for times, in place of those there are.
Dataset with_file_order(const Dataset& data);

}  // namespace slide
