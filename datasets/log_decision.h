// What lines of a log of interactions mean that no first line names: from what they have in common. Pure
// functions but for messages.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "datasets/log_form.h"
#include "datasets/log_survey.h"
#include "datasets/read_options.h"
#include "datasets/text_source.h"

namespace slide {

// What stands between fields: what nine of ten lines have, as often as each other.
Separator separator_of(const LogFacts& facts);

// What is to be decided on.
struct LogQuestion {
  std::span<const TextSource> bodies;  // without first lines that name columns
  const LogOptions& options;
  const std::optional<KnownLog>& known;
  Separator separator;
  const LogFacts& facts;  // by this separator
};

// Throws InputError where columns cannot be told. Adds to `warnings` what may be meant otherwise.
LogLayout decide_layout(const LogQuestion& asked, std::vector<std::string>& warnings);

}  // namespace slide
