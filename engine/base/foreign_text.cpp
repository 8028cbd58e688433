#include "engine/base/foreign_text.h"

#include <algorithm>

namespace slide {

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
