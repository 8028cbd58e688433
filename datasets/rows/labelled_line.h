// Parser of one line of labelled text. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/rows/json_record.h"

namespace slide {

// Error message for a label that has_control().
inline constexpr const char* kControlInLabel =
    "a label with a line break, TAB or other control character in its name; write it without";

// Form of labels in a line, or of items in an interaction log; values are stored in models.
enum class TextForm : std::uint32_t {
  kFastText,   // tokens __label__NAME anywhere
  kTabs,       // NAME,NAME,... before the first tab
  kItemLists,  // user item item ...
  kItemPairs,  // user item [weight [time]]
};

// Whether `form` is a form of interaction logs (interaction_lines.h).
inline bool has_items(TextForm form) {
  return form == TextForm::kItemLists || form == TextForm::kItemPairs;
}

inline constexpr std::string_view kLabelPrefix = "__label__";

// The text without a UTF-8 byte order mark.
std::string_view without_byte_order_mark(std::string_view text);

// The text without surrounding blanks.
std::string_view trimmed(std::string_view text);

// The column names in a comma-separated list, such as data.text.
std::vector<std::string> column_names(std::string_view list);

// A parsed line: views of the line or of `scratch`; reused for every line.
struct LabelledLine {
  std::vector<std::string_view> labels;
  std::string_view text;
  std::string scratch;
  float weight = 1;              // of the sample; other than 1 only in tables
  std::string_view group, time;  // of the sample, in tables with such columns
  std::span<const float> dense;  // features of the sample, in tables with such a column
  // For records of a table (table.h):
  std::vector<std::string_view> fields;
  std::string unquoted;
  JsonRecord object;
};

// kRequired: a line of a table needs a tab, and labels need names. kOptional: a line may be text only, and
// empty label names are ignored.
enum class Labels { kRequired, kOptional };

// Parses `line`, which is without its end. `separator`: of labels before a TAB. Throws RowFault, but not with
// Labels::kOptional.
void split_labelled(std::string_view line, TextForm form, Labels labels, LabelledLine& result,
                    std::string_view separator = ",");

// Parses text for prediction by a model whose training text had `form`: optional labels are removed,
// __label__NAME from lines of that form and where one stands first, and for tables the part before a tab in
// the first line. Items of an interaction log have any name.
void split_plain(std::string_view text, TextForm form, LabelledLine& result);

// The same for a text that comes without labels, from memory: only __label__NAME is removed, where
// split_plain removes it; a TAB is part of the text.
void split_unlabelled(std::string_view text, TextForm form, LabelledLine& result);

// Whether a line is certainly XMC or libsvm text: optional labels, then only features `id:value`.
bool looks_like_features(std::string_view line);

// Whether the text has a word __label__NAME.
bool has_prefixed_label(std::string_view text);

// Form of labelled text, from its first nonblank lines: kFastText where the first line begins with __label__;
// where it has no TAB and any line has a word __label__NAME; or where it has a TAB and more than half of the
// lines have such a word. kTabs for other texts whose first line has a TAB. Else nullopt, also where the
// first line is libsvm.
std::optional<TextForm> find_text_form(std::string_view text);

// The same of a text that must be labelled: kFastText, too, where any word behind the first lines is
// __label__NAME. Throws InputError, naming `origin`, where there are no labels.
TextForm require_text_form(std::string_view text, const std::string& origin);

// Whether a line that is no labelled text has more words than features, `id:value` or malformed ones.
bool is_prose_with_colon(std::string_view line);

}  // namespace slide
