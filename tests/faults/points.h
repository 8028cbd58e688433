// The system calls to fail (fault.cpp), and their number.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>

#include "tests/cli/program.h"

namespace slide::test {

namespace fs = std::filesystem;
struct Point {
  std::string kind, effect;
  long number;
  std::string text() const { return fmt::format("{}:{}:{}", kind, number, effect); }
  bool kills() const { return effect == "KILL"; }
  bool lasts() const { return effect.ends_with('+'); }
  bool survivable() const { return effect == "EINTR" || effect == "SHORT"; }
};

inline const std::map<std::string, Strings> kEffects = {
    {"read", {"EIO", "EINTR", "SHORT"}},
    {"write", {"ENOSPC", "EINTR", "SHORT", "KILL"}},
    {"sync", {"EIO", "KILL"}},
    {"resize", {"ENOSPC", "KILL"}},
    {"open", {"EIO"}},
    {"name", {"EIO"}},
    {"remove", {"EIO"}},
    {"folder", {"ENOSPC"}},
    {"map", {"ENOMEM"}},
    {"memory", {"ENOMEM", "ENOMEM+"}},
    {"change", {"KILL"}},
};

inline bool all_wanted() {
  const char* text = std::getenv("SLIDE_FAULTS");
  return text != nullptr && std::string(text) == "all";
}

// Points of a command, from the counts of one run: at most `most` per kind and effect, the same ones each
// time; all of them with SLIDE_FAULTS=all.
inline std::vector<Point> points_of(const std::string& counts, std::size_t most) {
  std::istringstream lines(counts);
  std::map<std::string, std::vector<long>> numbers;
  std::string kind;
  for (long count = 0; lines >> kind >> count;) {
    if (kind == "place") {
      numbers["memory"].push_back(count);
    } else if (kind != "memory") {
      for (long i = 1; i <= count; ++i) numbers[kind].push_back(i);
    }
  }
  const char* only = std::getenv("SLIDE_FAULT_POINT");  // repeats a single point
  std::vector<Point> points;
  for (auto& [of, all] : numbers) {
    std::sort(all.begin(), all.end());
    const std::size_t step = all_wanted() ? 1 : (all.size() + most - 1) / most;
    for (const std::string& effect : kEffects.at(of)) {
      for (std::size_t i = 0; i < all.size(); i += step) {
        const Point point{of, effect, all[i]};
        if (only == nullptr || point.text() == only) points.push_back(point);
      }
    }
  }
  return points;
}

// Whether a failure ends the program correctly: one line, and the exit code of its kind.
inline bool is_reported(const Point& point, const Outcome& outcome) {
  const std::string& line = outcome.err;
  const bool one_line = line.starts_with("slide: ") && line.find('\n') + 1 == line.size();
  if (point.survivable() || !one_line) return false;
  if (point.kind == "memory" && line.find("Cannot allocate memory") == std::string::npos)
    return outcome.code == 1 && line.find("out of memory") != std::string::npos;
  return outcome.code == 1 || outcome.code == 2;
}

// Prints the number of tried points of each kind.
inline void list_points(const std::string& command, const std::vector<Point>& points) {
  std::map<std::string, int> count;
  for (const Point& point : points) ++count[point.kind];
  std::cout << command << ':';
  for (const auto& [kind, number] : count) std::cout << ' ' << kind << ' ' << number;
  std::cout << std::endl;
}

}  // namespace slide::test
