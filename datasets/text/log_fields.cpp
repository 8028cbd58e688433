#include "datasets/text/log_fields.h"

#include <algorithm>
#include <cstring>

#include "datasets/rows/line_chunks.h"
#include "datasets/rows/row_parser.h"

namespace slide {

namespace {

constexpr std::string_view kAnyBlanks = " \t,\r";

constexpr bool is_field_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

constexpr char byte_of(Separator separator) {
  constexpr std::array<char, kSeparators> kBytes = {':', '\t', ',', ';', '|', ' '};
  return kBytes[static_cast<std::size_t>(separator)];
}

// Whether a separator begins at `at`; how many bytes it has.
std::size_t separator_at(std::string_view line, std::size_t at, Separator separator) {
  if (separator == Separator::kBlanks) return kAnyBlanks.find(line[at]) != std::string_view::npos ? 1 : 0;
  if (line[at] != byte_of(separator)) return 0;
  if (separator != Separator::kColons) return 1;
  return at + 1 < line.size() && line[at + 1] == ':' ? 2 : 0;
}

std::string_view without_blanks(const char* begin, const char* end) {
  while (begin < end && is_field_blank(*begin)) ++begin;
  while (begin < end && is_field_blank(end[-1])) --end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

// Lines without quotes, of separators of one byte.
void cut_plain(std::string_view line, char separator, std::vector<std::string_view>& fields) {
  const char* const end = line.data() + line.size();
  const char* begin = line.data();
  for (const char* at = begin;; ++at) {
    if (at != end && *at != separator) continue;
    fields.push_back(without_blanks(begin, at));
    if (at == end) return;
    begin = at + 1;
  }
}

constexpr bool is_any_blank(char c) {
  return is_field_blank(c) || c == ',';
}

// Lines without quotes, by kBlanks.
void cut_words(std::string_view line, std::vector<std::string_view>& fields) {
  const char* const end = line.data() + line.size();
  for (const char* at = line.data(); at != end;) {
    while (at != end && is_any_blank(*at)) ++at;
    const char* const begin = at;
    while (at != end && !is_any_blank(*at)) ++at;
    if (at != begin) fields.emplace_back(begin, static_cast<std::size_t>(at - begin));
  }
}

// Where quotes that open at `open` close: after the last of them, before a separator or the end; or npos.
std::size_t end_of_quotes(std::string_view line, std::size_t open, Separator separator) {
  for (std::size_t at = open + 1;;) {
    at = line.find('"', at);
    if (at == std::string_view::npos) return at;
    if (at + 1 < line.size() && line[at + 1] == '"') {
      at += 2;
      continue;
    }
    std::size_t behind = at + 1;
    while (behind < line.size() && is_field_blank(line[behind]) && separator_at(line, behind, separator) == 0)
      ++behind;
    return behind == line.size() || separator_at(line, behind, separator) > 0 ? at + 1
                                                                              : std::string_view::npos;
  }
}

std::string_view unquoted_of(std::string_view content, UnquotedNames& unquoted) {
  if (content.find('"') == std::string_view::npos) return content;
  std::string& name = unquoted.emplace_back();
  for (std::size_t i = 0; i < content.size(); ++i) {
    name += content[i];
    if (content[i] == '"') ++i;
  }
  return name;
}

// The field that begins at `at`, with its quotes; moves `at` to the separator after it or the end.
std::string_view take_any(std::string_view line, Separator separator, std::size_t& at,
                          UnquotedNames& unquoted) {
  const std::size_t begin = at;
  if (separator != Separator::kBlanks) {
    while (at < line.size() && is_field_blank(line[at]) && separator_at(line, at, separator) == 0) ++at;
  }
  if (at < line.size() && line[at] == '"') {
    const std::size_t open = at, end = end_of_quotes(line, open, separator);
    if (end != std::string_view::npos) {
      const std::string_view content = line.substr(open + 1, end - open - 2);
      if (content.find('\t') != std::string_view::npos)
        throw RowFault{open + 1, "a name with a TAB in it; write it without"};
      at = end;
      while (at < line.size() && separator_at(line, at, separator) == 0) ++at;
      return unquoted_of(content, unquoted);
    }
    if (separator == Separator::kComma && line.find('"', open + 1) == std::string_view::npos)
      throw RowFault{open + 1, "quotes open here and are never closed; close them, or double a lone quote"};
  }
  while (at < line.size() && separator_at(line, at, separator) == 0) ++at;
  return without_blanks(line.data() + begin, line.data() + at);
}

void cut_strictly(std::string_view line, Separator separator, std::vector<std::string_view>& fields,
                  UnquotedNames& unquoted) {
  for (std::size_t at = 0;;) {
    fields.push_back(take_any(line, separator, at, unquoted));
    if (at == line.size()) return;
    at += separator_at(line, at, separator);
  }
}

void cut_at_blanks(std::string_view line, std::vector<std::string_view>& fields, UnquotedNames& unquoted) {
  for (std::size_t at = 0;;) {
    while (at < line.size() && separator_at(line, at, Separator::kBlanks) > 0) ++at;
    if (at == line.size()) return;
    fields.push_back(take_any(line, Separator::kBlanks, at, unquoted));
  }
}

}  // namespace

std::string_view take_field(std::string_view& rest) {
  return take_word(rest, kAnyBlanks);
}

// Chooses the fastest way to cut: quotes and separators of two bytes need more care.
void cut_fields(std::string_view line, Separator separator, std::vector<std::string_view>& fields,
                UnquotedNames& unquoted) {
  fields.clear();
  const bool quotes = !line.empty() && std::memchr(line.data(), '"', line.size()) != nullptr;
  if (separator == Separator::kBlanks) {
    if (quotes) return cut_at_blanks(line, fields, unquoted);
    cut_words(line, fields);
  } else if (quotes || separator == Separator::kColons) {
    cut_strictly(line, separator, fields, unquoted);
  } else {
    cut_plain(line, byte_of(separator), fields);
  }
}

bool try_cut_fields(std::string_view line, Separator separator, std::vector<std::string_view>& fields,
                    UnquotedNames& unquoted) {
  try {
    cut_fields(line, separator, fields, unquoted);
    return true;
  } catch (const RowFault&) {
    fields.clear();
    return false;
  }
}

void cut_any_fields(std::string_view line, Separator separator, std::vector<std::string_view>& fields,
                    UnquotedNames& unquoted) {
  if (try_cut_fields(line, separator, fields, unquoted)) return;
  std::string& plain = unquoted.emplace_back(line);
  std::ranges::replace(plain, '"', '\'');
  cut_fields(plain, separator, fields, unquoted);
}

}  // namespace slide
