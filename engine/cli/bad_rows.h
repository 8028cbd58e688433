// Rows that --skip-bad leaves out, and what a command says of them. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/read_report.h"

namespace slide::cli {

class BadRows {
 public:
  // Tells the first few faults to standard error as they come.
  void add(std::uint64_t count, const std::vector<std::string>& faults);
  void add(const ReadReport& report) { add(report.bad_rows, report.first); }

  // At the end of a command: where rows were left out, tells how many and throws Ended.
  void end() const;

 private:
  std::uint64_t count_ = 0;
  std::size_t told_ = 0;
};

}  // namespace slide::cli
