#include "datasets/rows/text_encoding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace slide {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t kJudgedBytes = 4096;

bool is_high(char c) {
  return (static_cast<unsigned char>(c) & 0x80U) != 0;
}

// Length in bytes of the UTF-8 character that begins at `at`; 0 if invalid (table 3-7 of the Unicode
// standard).
std::size_t character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned>(static_cast<unsigned char>(text[at + i])) : 0U;
  };
  const auto follows = [&](std::size_t i, unsigned low = 0x80, unsigned high = 0xbf) {
    return byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool second = follows(1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf);
    return second && follows(2) ? 3 : 0;
  }
  if (first < 0xf0 || first > 0xf4) return 0;
  const bool second = follows(1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf);
  return second && follows(2) && follows(3) ? 4 : 0;
}

// Returns the number of ASCII bytes at the beginning of the text.
std::size_t ascii_bytes(std::string_view text) {
  constexpr std::uint64_t kHighBits = 0x8080808080808080ULL;
  std::size_t at = 0;
  std::array<std::uint64_t, 4> words{};
  for (; text.size() - at >= sizeof words; at += sizeof words) {
    std::memcpy(words.data(), text.data() + at, sizeof words);
    if (((words[0] | words[1] | words[2] | words[3]) & kHighBits) != 0) break;
  }
  for (; text.size() - at >= sizeof words[0]; at += sizeof words[0]) {
    std::memcpy(words.data(), text.data() + at, sizeof words[0]);
    if ((words[0] & kHighBits) != 0) break;
  }
  while (at < text.size() && !is_high(text[at])) ++at;
  return at;
}

// Whether in each group of `step` bytes only byte number `kept` is nonzero, as in ASCII text in UTF-16 or
// UTF-32.
bool has_zeros_around(std::string_view text, std::size_t step, std::size_t kept) {
  const std::size_t bytes = std::min<std::size_t>(text.size(), 64) / step * step;
  if (bytes < 2 * step) return false;
  for (std::size_t i = 0; i < bytes; ++i) {
    if ((text[i] == '\0') == (i % step == kept)) return false;
  }
  return true;
}

}  // namespace

std::optional<std::size_t> first_no_utf8(std::string_view text) {
  for (std::size_t at = 0;;) {
    at += ascii_bytes(text.substr(at));
    if (at == text.size()) return std::nullopt;
    const std::size_t bytes = character_at(text, at);
    if (bytes == 0) return at;
    at += bytes;
  }
}

// Guesses the encoding of a text with an invalid UTF-8 byte at `at`: in Latin alphabets a byte above ASCII
// mostly stands alone between ASCII letters; in other alphabets runs of them are words.
std::string looks_like_encoding(std::string_view text, std::size_t at) {
  text = text.substr(at, kJudgedBytes);
  std::size_t high = 0, in_runs = 0;
  bool is_windows = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_high(text[i])) continue;
    ++high;
    is_windows = is_windows || static_cast<unsigned char>(text[i]) < 0xa0;
    in_runs += i + 1 < text.size() && is_high(text[i + 1]) ? 1 : 0;
  }
  if (in_runs * 2 > high) return "another encoding (Windows-1251, KOI8-R, GBK, Shift-JIS, ...)";
  return is_windows ? "Windows-1252" : "Latin-1 (ISO-8859-1) or Windows-1252";
}

std::optional<std::string_view> marked_wide_encoding(std::string_view text) {
  if (text.starts_with("\xff\xfe\0\0"sv) || text.starts_with("\0\0\xfe\xff"sv)) return "UTF-32";
  if (text.starts_with("\xff\xfe"sv) || text.starts_with("\xfe\xff"sv)) return "UTF-16";
  return std::nullopt;
}

std::optional<std::string_view> wide_encoding(std::string_view text) {
  if (const auto marked = marked_wide_encoding(text)) return marked;
  if (has_zeros_around(text, 2, 0) || has_zeros_around(text, 2, 1)) return "UTF-16";
  if (has_zeros_around(text, 4, 0) || has_zeros_around(text, 4, 3)) return "UTF-32";
  return std::nullopt;
}

// Whether lines end in CR alone, as on old Macintoshes: CRs within text, and no LF anywhere.
bool has_lines_of_cr(std::string_view text) {
  constexpr std::size_t kLookedAt = std::size_t{1} << 16;
  const std::string_view head = text.substr(0, kLookedAt);
  if (head.find('\n') != std::string_view::npos) return false;
  const std::size_t first = head.find('\r');
  if (first == std::string_view::npos || head.find_first_not_of("\r \t", first) == std::string_view::npos)
    return false;
  const auto is_control = [](unsigned char c) { return c < ' ' && c != '\t' && c != '\r'; };
  return std::ranges::none_of(head, is_control) && text.find('\n') == std::string_view::npos;
}

std::string in_wide_encoding(std::string_view encoding) {
  return fmt::format("text in {}; store it as UTF-8 (iconv -f {} -t UTF-8)", encoding, encoding);
}

namespace {

std::uint64_t line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<std::uint64_t>(
                 std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

}  // namespace

std::string not_utf8_warning(std::string_view text, std::size_t at, const std::string& origin,
                             std::uint64_t lines_before) {
  const std::string looks = looks_like_encoding(text, at);
  return fmt::format(
      "{}:{}: this is not UTF-8, and words end at such bytes; it looks like {}: store it as UTF-8{}", origin,
      lines_before + line_of(text, at), looks,
      looks.ends_with("Windows-1252") ? " (iconv -f WINDOWS-1252 -t UTF-8)" : "");
}

std::string encoding_warning(std::string_view text, const std::string& origin, std::uint64_t lines_before) {
  const auto at = first_no_utf8(text);
  return at ? not_utf8_warning(text, *at, origin, lines_before) : std::string();
}

}  // namespace slide
