// Prints warnings of data (ReadReport::warnings), or turns them into errors (--strict). For one thread.
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

  // Prints each warning once, on standard error. With `strict` throws InputError with the first one.
  void add(const std::vector<std::string>& warnings);
  void add(const ReadReport& report) { add(report.warnings); }

 private:
  bool strict_;
  std::set<std::string> printed_;
};

// Prints how many features and labels of the data the model does not know: as a warning where most are
// unknown, else as a note; nothing where all are known.
void report_unknown(const Unknown& unknown, const std::string& path, std::uint64_t rows, FeatureKind kind,
                    Warnings& warnings);

}  // namespace slide::cli
