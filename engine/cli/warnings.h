// Warnings of data (ReadReport::warnings), and what a command makes of them. For one thread.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "datasets/rows/read_report.h"
#include "engine/run/unknown.h"

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

// Tells what data hold that a model does not know, if anything: a warning where that is most of them.
void tell_unknown(const Unknown& unknown, const std::string& path, std::uint64_t rows, FeatureKind kind,
                  Warnings& warnings);

}  // namespace slide::cli
