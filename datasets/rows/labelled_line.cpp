#include "datasets/rows/labelled_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "datasets/rows/line_chunks.h"
#include "datasets/rows/row_parser.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"
#include "engine/base/number_text.h"

namespace slide {

namespace {

constexpr std::string_view kBlanks = " \t\n";  // texts in memory may contain several lines
constexpr std::size_t kFormLines = 20;         // looked at to find the form of labels
constexpr std::size_t kFormBytes = std::size_t{1} << 16;

bool is_between_words(char c) {
  return kBlanks.find(c) != std::string_view::npos;
}

std::size_t column_of(std::string_view line, const char* at) {
  return static_cast<std::size_t>(at - line.data()) + 1;
}

// Several blanks part labels as one does.
bool is_blank(std::string_view separator) {
  return separator.find_first_not_of(kBlanks) == std::string_view::npos;
}

void add_label(std::string_view line, Labels labels, std::string_view name, LabelledLine& result) {
  if (labels == Labels::kRequired && has_control(name))
    throw RowFault{column_of(line, name.data()), kControlInLabel};
  if (!name.empty()) result.labels.push_back(name);
}

// Splits LABEL,LABEL<TAB>TEXT. Without labels being required, a line without TAB is all text.
void split_table(std::string_view line, Labels labels, std::string_view separator, LabelledLine& result) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) {
    if (labels == Labels::kOptional) return;
    throw RowFault{line.size() + 1, "no TAB between labels and text; write LABEL,LABEL<TAB>TEXT"};
  }
  std::string_view names = line.substr(0, tab);
  if (labels == Labels::kOptional && names.find('\n') != std::string_view::npos) return;
  result.text = line.substr(tab + 1);
  if (trimmed(names).empty()) return;
  while (true) {
    const std::size_t end = std::min(names.find(separator), names.size());
    const std::string_view name = trimmed(names.substr(0, end));
    if (name.empty() && labels == Labels::kRequired && !is_blank(separator)) {
      throw RowFault{column_of(line, names.data()),
                     fmt::format("a label without a name; write LABEL{}LABEL<TAB>TEXT", separator)};
    }
    add_label(line, labels, name, result);
    if (end == names.size()) return;
    names.remove_prefix(end + separator.size());
  }
}

// Where the next word __label__NAME of the line begins, from `at` on; npos without one.
std::size_t find_prefixed(std::string_view line, std::size_t at = 0) {
  for (at = line.find(kLabelPrefix, at); at != std::string_view::npos; at = line.find(kLabelPrefix, at + 1)) {
    const std::size_t end = at + kLabelPrefix.size();
    const bool named = end < line.size() && !is_between_words(line[end]) && line[end] != '\r';
    if (named && (at == 0 || is_between_words(line[at - 1]))) return at;
  }
  return std::string_view::npos;
}

// Labels at the start leave the text a view of the line; only labels after other text require a copy.
void split_prefixed(std::string_view line, Labels labels, LabelledLine& result) {
  bool copied = false;
  for (std::size_t at = line.find(kLabelPrefix); at != std::string_view::npos;
       at = line.find(kLabelPrefix, at + 1)) {
    if (at > 0 && !is_between_words(line[at - 1])) continue;
    const std::size_t end = std::min(line.find_first_of(kBlanks, at), line.size());
    const std::string_view name = line.substr(at + kLabelPrefix.size(), end - at - kLabelPrefix.size());
    if (name.empty() && labels == Labels::kRequired) {
      throw RowFault{at + 1, fmt::format("a label without a name; write {}NAME", kLabelPrefix)};
    }
    add_label(line, labels, name, result);
    const auto text_at = static_cast<std::size_t>(result.text.data() - line.data());
    if (!copied && trimmed(line.substr(text_at, at - text_at)).empty()) {
      result.text = line.substr(end);
      continue;
    }
    if (!copied) result.scratch.assign(line);
    copied = true;
    std::fill_n(result.scratch.begin() + static_cast<std::ptrdiff_t>(at), end - at, ' ');
  }
  if (copied) result.text = std::string_view(result.scratch).substr(column_of(line, result.text.data()) - 1);
}

}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_between_words(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_between_words(text.back())) text.remove_suffix(1);
  return text;
}

// Splits a comma-separated list and skips empty names.
std::vector<std::string> column_names(std::string_view list) {
  std::vector<std::string> names;
  while (true) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view name = trimmed(list.substr(0, comma));
    if (!name.empty()) names.emplace_back(name);
    if (comma == list.size()) return names;
    list.remove_prefix(comma + 1);
  }
}

void split_labelled(std::string_view line, TextForm form, Labels labels, LabelledLine& result,
                    std::string_view separator) {
  result.labels.clear();
  result.text = line;
  if (form == TextForm::kTabs) {
    split_table(line, labels, separator, result);
  } else {
    split_prefixed(line, labels, result);
  }
}

namespace {

// Form of labels to remove from a text for prediction; nullopt: there are none.
std::optional<TextForm> plain_form(std::string_view text, TextForm form) {
  if (has_items(form)) return std::nullopt;
  const std::size_t at = find_prefixed(text);
  const bool prefixed =
      at != std::string_view::npos && text.substr(0, at).find('\t') == std::string_view::npos;
  return prefixed ? TextForm::kFastText : form;
}

}  // namespace

void split_plain(std::string_view text, TextForm form, LabelledLine& result) {
  result.labels.clear();
  result.text = text;
  if (const auto plain = plain_form(text, form)) split_labelled(text, *plain, Labels::kOptional, result);
}

void split_unlabelled(std::string_view text, TextForm form, LabelledLine& result) {
  result.labels.clear();
  result.text = text;
  if (plain_form(text, form) != TextForm::kFastText) return;
  split_labelled(text, TextForm::kFastText, Labels::kOptional, result);
  result.labels.clear();
}

namespace {

constexpr std::string_view kGaps = " \t\r";  // between tokens

// Whether a token is `id:value`, with a number or its beginning.
bool is_feature(std::string_view token) {
  const std::size_t colon = token.find(':');
  if (colon == 0 || colon == std::string_view::npos || colon + 1 == token.size()) return false;
  return is_digits(token.substr(0, colon)) &&
         token.substr(colon + 1).find_first_not_of("0123456789.eE+-") == std::string_view::npos;
}

}  // namespace

// Whether each token is a feature `id:value`; the first one may be a list of label ids.
bool looks_like_features(std::string_view line) {
  std::string_view rest = without_byte_order_mark(line);
  const char* const begin = rest.data();
  std::size_t features = 0;
  for (std::string_view token = take_word(rest, kGaps); !token.empty(); token = take_word(rest, kGaps)) {
    const bool may_be_labels =
        token.data() == begin && token.find_first_not_of("0123456789,+-.") == std::string_view::npos;
    if (is_feature(token)) {
      ++features;
    } else if (!may_be_labels) {
      return false;
    }
  }
  return features > 0;
}

bool has_prefixed_label(std::string_view text) {
  return find_prefixed(text) != std::string_view::npos;
}

// Without a TAB in the first line, one prefixed label makes it fastText's form; with a TAB, more than half of
// the lines must have one, else the form is kTabs.
std::optional<TextForm> find_text_form(std::string_view text) {
  text = without_byte_order_mark(text);
  std::string_view rest = text, line;
  while (!rest.empty() && is_blank_line(line)) line = take_line(rest);
  if (trimmed(line).starts_with(kLabelPrefix)) return TextForm::kFastText;
  if (line.find('\0') != std::string_view::npos || looks_like_features(line)) return std::nullopt;
  std::size_t lines = 1, prefixed = has_prefixed_label(line) ? 1 : 0;
  // Whole lines of a fixed part of the text, so that a longer part of a file has the same form.
  const auto done = static_cast<std::size_t>(rest.data() - text.data());
  rest = rest.substr(0, kFormBytes - std::min(done, kFormBytes));
  while (!rest.empty() && lines < kFormLines) {
    const std::string_view next = take_line(rest);
    if (is_blank_line(next)) continue;
    ++lines;
    prefixed += has_prefixed_label(next) ? 1 : 0;
  }
  if (line.find('\t') == std::string_view::npos)
    return prefixed > 0 ? std::optional(TextForm::kFastText) : std::nullopt;
  return 2 * prefixed > lines ? TextForm::kFastText : TextForm::kTabs;
}

TextForm require_text_form(std::string_view text, const std::string& origin) {
  if (const std::optional<TextForm> form = find_text_form(text)) return *form;
  if (has_prefixed_label(text)) return TextForm::kFastText;
  fail_input("{}:1:1: no labelled text; write '{}NAME words ...' or 'NAME,NAME<TAB>words ...'", origin,
             kLabelPrefix);
}

// Counts tokens that look like features (id:value; numbers after the first token) and other tokens (words).
bool is_prose_with_colon(std::string_view line) {
  constexpr std::string_view kOfNumbers = "0123456789.,eE+-";
  std::size_t words = 0, features = 0;
  bool is_first = true;
  for (std::string_view token = take_word(line, kGaps); !token.empty(); token = take_word(line, kGaps)) {
    const bool may_be_labels = std::exchange(is_first, false);
    if (token.find_first_not_of(kOfNumbers) == std::string_view::npos) {
      features += may_be_labels ? 0 : 1;  // else an id without a value
      continue;
    }
    const std::size_t colon = token.rfind(':');
    const bool inside = colon != std::string_view::npos && colon > 0 && colon + 1 < token.size();
    const bool number_before = token.find_first_not_of(kOfNumbers) == token.find(':');
    const bool number_after = token.find_first_not_of(kOfNumbers, colon + 1) == std::string_view::npos;
    inside && (number_before || number_after) ? ++features : ++words;
  }
  return words > features;
}

}  // namespace slide
