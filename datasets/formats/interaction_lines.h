// Parser of a line of an interaction log: user and items. Lists have all items of a user per line (`user item
// item ...`); pairs have one item (`user item [weight [time]]`). Fields are separated by blanks, tabs and
// commas, which names cannot contain. Pure functions.
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

// A line taken apart: views of it or of `unquoted`, reused from line to line.
struct LogLine {
  std::string_view user;
  std::vector<std::string_view> items;
  ItemWeight of_pair;  // kItemPairs: of its item
  std::vector<std::string_view> fields;
  UnquotedNames unquoted;
};

// Takes `line`, without its end, apart, which is not blank. Throws RowFault.
void split_log_line(std::string_view line, const LogLayout& layout, LogLine& result);

// Whether this is a log for sure: a first line that names nothing but what logs have; or two lines or more,
// of two fields or more, which are all numbers; behind a line of three fields, which could be the header of
// XMC text, all of three fields that go against it. Between numbers, TABs are those of labelled text, but
// where the fourth can only be a time. `text` may end within a line.
bool looks_like_log(std::string_view text);

}  // namespace slide
