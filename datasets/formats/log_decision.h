// Decides the layout of an interaction log without a header line, from statistics of its lines
// (log_survey.h): lists of items, or (user, item) pairs in columns. Pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/formats/log_form.h"
#include "datasets/formats/log_survey.h"
#include "datasets/rows/read_options.h"
#include "datasets/rows/text_source.h"

namespace slide {

// Returns the separator that at least nine of ten lines contain equally often; kBlanks where there is none.
Separator separator_of(const LogFacts& facts);

// Input of decide_layout().
struct LogQuestion {
  std::span<const TextSource> bodies;  // the parts of the log, without header lines
  const LogOptions& options;
  const std::optional<KnownLog>& known;
  Separator separator;
  const LogFacts& facts;  // with fields divided at `separator`
};

// Returns the layout. Appends to `warnings` a line for each doubtful decision. Throws InputError where the
// roles of columns are ambiguous. Reads the text again only to find users on several lines.
LogLayout decide_layout(const LogQuestion& asked, std::vector<std::string>& warnings);

}  // namespace slide
