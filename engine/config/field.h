// One configuration key: name, bound member, allowed values and notation.
//
// A Field points into a Config and must not outlive it. Not thread-safe beyond the Config itself. Internal to
// the configuration library and to code that iterates over its keys.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/config/settings.h"

namespace slide::config {

// Inclusive range.
struct IntRange {
  std::int64_t low;
  std::int64_t high;
  bool contains(std::int64_t value) const { return value >= low && value <= high; }
};

// A range whose ends are inclusive unless marked open; for an open lower end, values that round to it as
// float are excluded too. Contains no NaN.
struct RealRange {
  double low;
  double high;
  bool low_open = false;
  bool high_open = false;
  bool contains(double value) const {
    return (low_open ? float(value) > low : value >= low) && (high_open ? value < high : value <= high);
  }
};

// Ranges by which of their ends are open.
constexpr RealRange closed(double low, double high) {
  return {low, high, false, false};
}
constexpr RealRange above(double low, double high) {
  return {low, high, true, false};
}
constexpr RealRange between(double low, double high) {
  return {low, high, true, true};
}
constexpr RealRange below(double low, double high) {
  return {low, high, false, true};
}

// An enum member; names[i] is the spelling of value i.
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
  bool columns = false;  // column numbers: whole numbers above 0 are accepted as text
};
struct Files {  // a path or a list of paths; see data_parts.h for several paths in one string
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
struct RealOrAuto {  // a number, or "auto": nullopt
  std::optional<double>* member;
  RealRange range;
};
struct ShareOrFile {  // a number, or Files
  ValidationSource* member;
  RealRange range;
};
struct PowerOrFile {  // a number, or a path
  LabelWeights* member;
  RealRange range;
};
struct NewestItems {  // true for 1, false for 0; a number of items, or a share below 1
  static constexpr std::uint32_t kMax = 1000000;
  TestNewest* member;
};
struct Time {  // a string, a number or a date of TOML
  std::string* member;
};
struct CountList {  // nonempty, strictly ascending
  std::vector<std::uint32_t>* member;
  IntRange range;
};

struct Field {
  std::string_view key;
  std::variant<Flag, Text, Files, Count, BigCount, Real, RealOrAuto, ShareOrFile, PowerOrFile, NewestItems,
               Time, CountList, Choice>
      value;
  std::string_view meaning;  // one sentence for the user
  // TOML value for stored configurations written before this key existed; empty for keys of the first model
  // files.
  std::string_view before = {};
};

std::string type_text(const Field& field);     // e.g. "integer"
std::string range_text(const Field& field);    // e.g. "1..1024", "(0, 1]", "sgd, adam"; empty for any value
std::string expects_text(const Field& field);  // e.g. "an integer in 1..1024"
std::string value_text(const Field& field);    // the current value as TOML; numbers round-trip exactly

// Whether the parser would accept the current value.
bool in_range(const Field& field);

// Whether the list is nonempty, strictly ascending and within `range`; shared with the parser.
bool list_in_range(std::span<const std::uint32_t> list, const IntRange& range);

// Shortest TOML that parses to the same double, with a point or an exponent.
std::string real_text(double value);

// `text` as a TOML basic string, with quotes.
std::string quote(std::string_view text);

}  // namespace slide::config
