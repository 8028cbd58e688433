// Malformed rows skipped by --skip-bad, and their report. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/rows/read_report.h"

namespace slide::cli {

class BadRows {
 public:
  // Prints the first few errors to standard error as they occur.
  void add(std::uint64_t count, const std::vector<std::string>& faults);
  void add(const ReadReport& report) { add(report.bad_rows, report.first); }

  // At the end of a command: if rows were skipped, prints their number and throws Ended.
  void end() const;

 private:
  std::uint64_t count_ = 0;
  std::size_t printed_ = 0;
};

}  // namespace slide::cli
