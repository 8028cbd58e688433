// Warnings of data (ReadReport::warnings), and what a command makes of them. For one thread.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "datasets/rows/read_report.h"

namespace slide::cli {

class Warnings {
 public:
  // `strict`: a warning is an error.
  explicit Warnings(bool strict) : strict_(strict) {}

  // Tells each once, on standard error. Throws InputError with the first where they are errors.
  void add(const std::vector<std::string>& warnings);
  void add(const ReadReport& report) { add(report.warnings); }

 private:
  bool strict_;
  std::set<std::string> told_;
};

}  // namespace slide::cli
