// One configuration key: its name, the member it is bound to, what the member may hold, and how that is
// written.
//
// A Field points into a Config and dies with it. Not thread-safe beyond what the Config itself is. Internal
// to the configuration library and to those who go over its keys.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/config/settings.h"

namespace slide::config {

// Both ends belong to the range.
struct IntRange {
  std::int64_t low;
  std::int64_t high;
  bool contains(std::int64_t value) const { return value >= low && value <= high; }
};

// An end belongs to the range unless it is marked open: what a float would round to it does not either. NaN
// is in no range.
struct RealRange {
  double low;
  double high;
  bool low_open = false;
  bool high_open = false;
  bool contains(double value) const {
    return (low_open ? float(value) > low : value >= low) && (high_open ? value < high : value <= high);
  }
};

// An enum member; names[i] spells the value i.
struct Choice {
  void* member;
  std::span<const std::string_view> names;
  std::size_t (*get)(const void* member);
  void (*set)(void* member, std::size_t value);
};

struct Flag {
  bool* member;
};
struct Text {
  std::string* member;
};
struct Files {  // a path, or a list of these; see data_parts.h for how the member holds several
  std::string* member;
};
struct Count {
  std::uint32_t* member;
  IntRange range;
};
struct BigCount {
  std::uint64_t* member;
  IntRange range;
};
struct Real {
  double* member;
  RealRange range;
};
struct ShareOrFile {  // a number, or what Files are
  ValidationSource* member;
  RealRange range;
};
struct PowerOrFile {  // a number, or a path
  LabelWeights* member;
  RealRange range;
};
struct CountList {  // not empty, strictly ascending
  std::vector<std::uint32_t>* member;
  IntRange range;
};

struct Field {
  std::string_view key;
  std::variant<Flag, Text, Files, Count, BigCount, Real, ShareOrFile, PowerOrFile, CountList, Choice> value;
  std::string_view meaning;  // one sentence for the user
  // As TOML: what a stored configuration means that was written before there was this key; empty for keys
  // that the first model files had.
  std::string_view before = {};
};

std::string type_text(const Field& field);     // "integer"
std::string range_text(const Field& field);    // "1..1024", "(0, 1]", "sgd, adam"; empty if anything goes
std::string expects_text(const Field& field);  // "an integer in 1..1024"
std::string value_text(const Field& field);    // the current value as TOML; numbers round-trip exactly

// True if the current value is one that the parser would have accepted.
bool in_range(const Field& field);

// Shared with the parser: not empty, strictly ascending, each in `range`.
bool list_in_range(std::span<const std::uint32_t> list, const IntRange& range);

// Shortest TOML that reads back as the same double, with a point or an exponent in it.
std::string real_text(double value);

// `text` as a TOML basic string, quotes included.
std::string quote(std::string_view text);

}  // namespace slide::config
