#include "engine/base/foreign_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace slide {

namespace {

// Whether objects and arrays nest deeper than kMaxNesting; exact up to the first byte that is not JSON.
// Counts brackets outside of strings.
bool nests_too_deep(std::string_view json) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (in_string) {
      if (c == '\\') ++at;  // an escaped character never ends a string
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxNesting) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace

std::optional<JsonFault> foreign_json_fault(std::string_view json) {
  if (const std::size_t nul = json.find('\0'); nul != std::string_view::npos)
    return JsonFault{nul + 1, "a NUL byte, which no JSON has; remove it"};
  if (nests_too_deep(json)) return JsonFault{1, fmt::format("nested deeper than {} values", kMaxNesting)};
  return std::nullopt;
}

bool has_control(std::string_view text, bool tab) {
  return std::ranges::any_of(
      text, [tab](unsigned char c) { return (c < 0x20 && !(tab && c == '\t')) || c == 0x7f; });
}

std::string shown_part(std::string_view text) {
  constexpr std::size_t kMaxShown = 80;
  std::string shown;
  std::size_t characters = 0;
  for (const char c : text) {
    if (begins_character(c) && ++characters > kMaxShown) return shown + "...";
    if (shown.size() >= 4 * kMaxShown) return shown + "...";  // not UTF-8
    shown += static_cast<unsigned char>(c) < 32 || c == 127 ? ' ' : c;
  }
  return shown;
}

}  // namespace slide
