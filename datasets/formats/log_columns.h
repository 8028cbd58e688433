// Roles of the columns of an interaction log (user, item, weight, time), by their names in public data sets
// and by the content of their fields. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slide {

// Columns of a pair, counted from 0.
struct PairColumns {
  std::size_t user = 0, item = 1;
  std::optional<std::size_t> weight, time;
};

enum class LogRole : std::uint8_t { kUser, kItem, kWeight, kTime };
inline constexpr std::size_t kLogRoles = 4;
std::string_view name_of(LogRole role);  // "user"
std::string_view key_of(LogRole role);   // "data.user"

// Returns the column whose name has this role, as MovieLens' userId or RecBole's user_id:token. Compares
// letters and digits only, without case. Of several columns, the one with the most usual name.
std::optional<std::size_t> find_role(const std::vector<std::string>& names, LogRole role);

// Whether names of the columns of users and items are of logs alone, as user_id and itemId or asin;
// "customer" and "product" are of tables, too.
bool names_pairs(std::string_view user, std::string_view item);

// Whether a name is usual for texts or labels, as "review_text" or "tags".
bool names_text_or_labels(std::string_view name);

// Whether a column is an index as pandas writes it: its name is empty or "Unnamed: 0".
bool names_index(std::string_view name);

// The number that a whole field is; nothing where it is not a finite number.
std::optional<float> weight_in_field(std::string_view field);

// The time that a whole field is: a number, or a date (2024-05-31 or 2024-05-31T12:30:00.5Z) as seconds since
// 1970; date_in_field() accepts dates only.
std::optional<double> time_in_field(std::string_view field);
std::optional<double> date_in_field(std::string_view field);

// The unit in which a number is a time since 1970, between 1976 and 2100; nothing where there is none.
inline constexpr std::size_t kTimeUnits = 4;  // seconds, milliseconds, microseconds, nanoseconds
std::optional<std::size_t> time_unit_of(double number);
// Converts `time`, if it is in seconds as dates are, to the unit of `like`; else returns it unchanged.
double in_unit_of(double time, double like);

}  // namespace slide
