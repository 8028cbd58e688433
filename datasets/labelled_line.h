// One line of text with labels, taken apart. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/json_record.h"

namespace slide {

// How a line holds labels, or of a log of interactions, items: values are stored in models.
enum class TextForm : std::uint32_t {
  kFastText,   // tokens __label__NAME, wherever they stand
  kTabs,       // NAME,NAME,... before the first TAB
  kItemLists,  // user item item ...
  kItemPairs,  // user item [weight [time]]
};

// Whether it is that of a log of interactions (interaction_lines.h).
inline bool has_items(TextForm form) {
  return form == TextForm::kItemLists || form == TextForm::kItemPairs;
}

inline constexpr std::string_view kLabelPrefix = "__label__";

// The text without the byte order mark that some editors begin a file with.
std::string_view without_byte_order_mark(std::string_view text);

// The text without the blanks around it.
std::string_view trimmed(std::string_view text);

// A line taken apart. Views of the line or of `scratch`; reused from line to line.
struct LabelledLine {
  std::vector<std::string_view> labels;
  std::string_view text;
  std::string scratch;
  float weight = 1;              // of the sample; other than 1 only in a table
  std::string_view group, time;  // of the sample, in a table where they have columns
  // Of a record of a table (table.h):
  std::vector<std::string_view> fields;
  std::string unquoted;
  JsonRecord object;
};

// Whether a line of a table must have a TAB, and labels a name. Without, a line may be text alone, and what
// lacks a name is no label.
enum class Labels { kRequired, kOptional };

// Takes `line`, without its end, apart. `separator`: of labels before a TAB. Throws RowFault, but not with
// Labels::kOptional.
void split_labelled(std::string_view line, TextForm form, Labels labels, LabelledLine& result,
                    std::string_view separator = ",");

// The same of a text to predict labels for, by a model whose training text had `form`: labels may be there,
// __label__NAME always, and what stands before a TAB in the first line where `form` is a table.
void split_plain(std::string_view text, TextForm form, LabelledLine& result);

}  // namespace slide
