#include "engine/config/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>
#include <vector>

namespace slide::config {
namespace {

constexpr std::size_t kOtherSection = 2;  // max distance contributed by the section

// "layer.0.size" -> ("layer.0", "size"); "size" -> ("", "size")
std::pair<std::string_view, std::string_view> split(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return {"", name};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::size_t section_distance(std::string_view a, std::string_view b) {
  if (a == b) return 0;
  const bool nested = !a.empty() && !b.empty() && (a.starts_with(b) || b.starts_with(a));
  return nested ? 1 : std::min(kOtherSection, edit_distance(a, b));
}

// Bytes of a name, to bound edit distances from it in O(length) of the other.
class ByteCounts {
 public:
  explicit ByteCounts(std::string_view name) : size_(name.size()) {
    for (const char c : name) ++at(c);
  }
  // A lower bound: the bytes of the longer name that the other one does not have.
  std::size_t min_distance(std::string_view other) {
    std::size_t common = 0;
    for (const char c : other) common += at(c)-- > 0 ? 1 : 0;
    for (const char c : other) ++at(c);
    return std::max(size_, other.size()) - common;
  }

 private:
  std::ptrdiff_t& at(char c) { return counts_[static_cast<unsigned char>(c)]; }

  std::size_t size_;
  std::array<std::ptrdiff_t, 256> counts_{};
};

}  // namespace

// Levenshtein distance, one row of its table at a time. From `limit` on, a lower bound of it.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  const auto [shorter, longer] = std::minmax({a.size(), b.size()});
  if (longer - shorter >= limit) return longer - shorter;
  std::vector<std::size_t> row(b.size() + 1);  // distances of a's first i bytes to every prefix of b
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    std::size_t smallest = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
      smallest = std::min(smallest, row[j]);
    }
    if (smallest >= limit) return smallest;
  }
  return row.back();
}

std::string nearest_name(std::string_view name, std::span<const std::string> names) {
  const auto [section, key] = split(name);
  std::string nearest;
  std::size_t smallest = std::numeric_limits<std::size_t>::max();
  for (const std::string& candidate : names) {
    const auto [other_section, other_key] = split(candidate);
    const auto [shorter, longer] = std::minmax({key.size(), other_key.size()});
    if (longer - shorter >= smallest) continue;  // lower bound: letters to add
    const std::size_t distance = edit_distance(key, other_key) + section_distance(section, other_section);
    if (distance < smallest) {
      smallest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

std::string near_name(std::string_view name, std::size_t count,
                      const std::function<std::string(std::size_t)>& name_of) {
  std::string near;
  std::size_t smallest = std::numeric_limits<std::size_t>::max();
  ByteCounts bytes(name);
  for (std::size_t i = 0; i < count; ++i) {
    std::string other = name_of(i);
    const std::size_t limit = std::min(smallest, std::max(name.size(), other.size()) / 2 + 1);
    if (bytes.min_distance(other) >= limit) continue;
    const std::size_t distance = edit_distance(name, other, limit);
    if (distance >= limit) continue;
    smallest = distance;
    near = std::move(other);
  }
  return near;
}

std::string near_name(std::string_view name, std::span<const std::string> names) {
  return near_name(name, names.size(), [names](std::size_t i) { return names[i]; });
}

std::string suggestion(std::string_view near) {
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

}  // namespace slide::config
