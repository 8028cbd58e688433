// Cuts a text into chunks of whole lines, chunks into lines, and lines into words. Pure functions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace slide {

// Chunks of about `chunk_bytes` bytes, at least 1. Calls release_pages(begin, end) for each chunk: the
// search for its end has loaded its pages.
template <class ReleasePages>
std::vector<std::string_view> cut_lines(std::string_view text, std::size_t chunk_bytes,
                                        const ReleasePages& release_pages) {
  std::vector<std::string_view> chunks;
  while (!text.empty()) {
    std::size_t bytes = std::min(std::max<std::size_t>(chunk_bytes, 1), text.size());
    const std::size_t end = text.find('\n', bytes - 1);
    bytes = end == std::string_view::npos ? text.size() : end + 1;
    chunks.push_back(text.substr(0, bytes));
    release_pages(text.data(), text.data() + bytes);
    text.remove_prefix(bytes);
  }
  return chunks;
}

// Removes and returns the first line of `text` (not empty), without its end, LF or CR LF.
inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

// Removes and returns the next word of `rest`, between characters of `gaps`; empty at the end.
inline std::string_view take_word(std::string_view& rest, std::string_view gaps) {
  rest.remove_prefix(std::min(rest.find_first_not_of(gaps), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(gaps));
  rest.remove_prefix(word.size());
  return word;
}

inline bool is_blank_line(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace slide
