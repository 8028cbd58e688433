// The samples of a part of a text that is predicted part by part (row_stream.h). Plain values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "datasets/rows/dataset.h"

namespace slide {

class LogUsers;

// One row per line or record of the part, in order; a malformed one has an empty row.
struct RowPart {
  Dataset rows;
  std::vector<std::uint64_t> bad = {};   // malformed rows, ascending; they are empty
  std::vector<std::string> faults = {};  // "FILE:LINE:COLUMN: what" for the first ReadReport::kShown of them
  std::uint64_t unknown_features = 0;    // of data with features: those left out
  std::uint64_t texts = 0,
                wordless = 0;  // texts, without blank and malformed ones; of these, without a known word
  std::vector<std::string> warnings = {};           // as in ReadReport
  std::shared_ptr<const LogUsers> users = nullptr;  // of interactions: whose rows they are
};

}  // namespace slide
