// A line of external scores: `label:score label:score ...`, or an object of JSON. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/run/label_index.h"

namespace slide {

struct ScoreEntry {
  std::uint32_t label;
  float score;
  std::uint32_t place;  // in its line
};

// A line of scores and its position.
struct ScoreLine {
  const std::string& origin;
  std::size_t number;
  std::string_view text;
  std::size_t before = 0;  // bytes of the line before `text`

  // FILE:LINE:COLUMN of `part`, a view into `text`; column 1 for other views.
  std::string place(std::string_view part) const;
};

// Throws InputError for a label that a row must not have.
void check_score_label(std::uint64_t label, const LabelIndex& index, const std::string& where);

// Reads a line into `row`, by ascending label. `user`: unless nullptr, the line begins with the name of its
// user and a TAB, or the object has one; the name goes here. Throws InputError.
void parse_score_line(ScoreLine line, LabelIndex& index, std::vector<ScoreEntry>& row,
                      std::string* user = nullptr);

}  // namespace slide
