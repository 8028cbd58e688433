// Parser of a line of an interaction log: user and items. Lists have all items of a user per line (`user item
// item ...`); pairs have one item (`user item [weight [time]]`). Fields are divided at the separator of the
// layout, which names may contain only in quotes (log_fields.h). Pure functions.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "datasets/formats/log_layout.h"

namespace slide {

// Weight and time of an interaction.
struct ItemWeight {
  float weight = 1;
  double time = 0;  // in any unit; 0 without a time
};

// A parsed line. Fields are views of the line or of `unquoted`. Reused from line to line.
struct LogLine {
  std::string_view user;
  std::vector<std::string_view> items;
  ItemWeight of_pair;  // weight and time of a line of kItemPairs
  std::vector<std::string_view> fields;
  UnquotedNames unquoted;
};

// Parses a line that is not blank, without its end. Throws RowFault.
void split_log_line(std::string_view line, const LogLayout& layout, LogLine& result);

// Whether `text`, the begin of a file, is certainly a log: its first line is the header of a log
// (has_log_header()); or it has at least two lines of numbers:
// - between '::', semicolons or bars: two or more fields, the first two integers;
// - with single colons, or with TABs and other separators besides, which features and labelled text have too:
//   three or four fields, the last of which can be a time;
// - else: two or more fields, the first two integers. A first line of three could be the header of XMC text:
//   all lines then have three, and some line contradicts the header.
// `text` may end within a line, which is ignored.
bool looks_like_log(std::string_view text);

}  // namespace slide
