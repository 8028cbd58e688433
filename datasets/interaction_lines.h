// One line of a log of interactions, taken apart: who had what. Lists hold all items of a user in a line
// (`user item item ...`), pairs one item each (`user item [weight [time]]`). Fields are separated by blanks,
// TABs and commas, of which names hold none. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "datasets/labelled_line.h"

namespace slide {

// Takes the next field off `rest`; empty where there is none.
std::string_view take_field(std::string_view& rest);

// One interaction of a pair.
struct ItemWeight {
  float weight = 1;
  double time = 0;  // in any unit; without one, 0
};

// A line taken apart: views of it, reused from line to line.
struct LogLine {
  std::string_view user;
  std::vector<std::string_view> items;
  ItemWeight of_pair;  // kItemPairs: of its one item
};

// Takes `line`, without its end, apart, which is not blank. `fields`: kItemPairs: how many every line has.
// Throws RowFault.
void split_log_line(std::string_view line, TextForm form, std::size_t fields, LogLine& result);

// How the lines of a log hold items.
struct LogShape {
  TextForm form = TextForm::kItemLists;
  std::size_t fields = 0;  // kItemPairs: of every line
};

// Bytes of a first line that names columns, and of blank ones before it.
std::size_t log_head(std::string_view text);

// Pairs are lines that all have two fields, or all three or all four where a user is on several of them; all
// else are lists. `known`: of a log of which this is another part, which decides where each user is on one
// line of three or four fields. Looks at the first 2^20 bytes, of several texts those of all together.
LogShape find_log_shape(std::span<const std::string_view> texts,
                        std::optional<TextForm> known = std::nullopt);
inline LogShape find_log_shape(std::string_view text, std::optional<TextForm> known = std::nullopt) {
  return find_log_shape(std::span(&text, 1), known);
}

// Whether this is a log for sure: two lines or more, of two fields or more, which are all numbers; behind a
// line of three fields, which could be the header of XMC text, all of three fields that go against it.
// Between numbers, TABs are those of labelled text. `text` may end within a line.
bool looks_like_log(std::string_view text);

}  // namespace slide
