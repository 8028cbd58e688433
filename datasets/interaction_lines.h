// Parser of a line of an interaction log: user and items. Lists have all items of a user per line (`user item
// item ...`); pairs have one item (`user item [weight [time]]`). Fields are separated by blanks, tabs and
// commas, which names cannot contain. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "datasets/labelled_line.h"

namespace slide {

// Removes and returns the next field of `rest`; empty at the end.
std::string_view take_field(std::string_view& rest);

// Weight and time of an interaction.
struct ItemWeight {
  float weight = 1;
  double time = 0;  // in any unit; 0 without a time
};

// A parsed line: views of it, reused for every line.
struct LogLine {
  std::string_view user;
  std::vector<std::string_view> items;
  ItemWeight of_pair;  // kItemPairs: of its item
};

// Parses `line`, nonblank and without its end. `fields`: for kItemPairs, the number of fields of every line.
// Throws RowFault.
void split_log_line(std::string_view line, TextForm form, std::size_t fields, LogLine& result);

// Structure of a log.
struct LogShape {
  TextForm form = TextForm::kItemLists;
  std::size_t fields = 0;  // kItemPairs: of every line
};

// Number of bytes of a header line that names columns, with blank lines before it; 0 without one.
std::size_t log_head(std::string_view text);

// Detects the structure. Pairs: all lines have two fields, or all three or all four where some user has
// several lines; else lists. `known`: form of another part of the same log, which decides where lines have
// three or four fields and no user repeats. Examines the first 2^20 bytes of all texts together.
LogShape find_log_shape(std::span<const std::string_view> texts,
                        std::optional<TextForm> known = std::nullopt);
inline LogShape find_log_shape(std::string_view text, std::optional<TextForm> known = std::nullopt) {
  return find_log_shape(std::span(&text, 1), known);
}

// Whether this is certainly a log: at least two lines, each of at least two fields, all numbers; after a line
// of three fields that could be an XMC header, only lines of three fields that contradict it. Tabs between
// numbers mean labelled text. `text` may end within a line.
bool looks_like_log(std::string_view text);

}  // namespace slide
