// What the columns of a log of interactions are: by their names, as public sets have them, and by what their
// fields hold. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace slide {

// Where the fields of a pair stand, from 0.
struct PairColumns {
  std::size_t user = 0, item = 1;
  std::optional<std::size_t> weight, time;
};

enum class LogRole : std::uint8_t { kUser, kItem, kWeight, kTime };
inline constexpr std::size_t kLogRoles = 4;
std::string_view name_of(LogRole role);  // "user"
std::string_view key_of(LogRole role);   // "data.user"

// The column of these names that has this role: MovieLens' userId, RecBole's user_id:token, ... Case, blanks,
// lines and points do not count. Of several, the plainest name.
std::optional<std::size_t> find_role(const std::vector<std::string>& names, LogRole role);

// Whether a name is that of an index, as pandas writes one: no name at all, or "Unnamed: 0".
bool names_index(std::string_view name);

// The whole of a field as a number; nothing where it is none, or none that is finite.
std::optional<float> weight_in_field(std::string_view field);

// The whole of a field as a time: a number, or seconds of a date, as 2024-05-31 or 2024-05-31T12:30:00.5Z.
std::optional<double> time_in_field(std::string_view field);
std::optional<double> date_in_field(std::string_view field);

// Which unit a number can be a time since 1970 in, between 1976 and 2100.
inline constexpr std::size_t kTimeUnits = 4;  // seconds and thousandths, three times
std::optional<std::size_t> time_unit_of(double number);

}  // namespace slide
