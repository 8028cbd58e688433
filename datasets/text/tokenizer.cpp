#include "datasets/text/tokenizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "engine/base/foreign_text.h"
#include "engine/base/rng.h"

namespace slide {

namespace {

// Part of every model: never change these values.
constexpr std::uint64_t kWordSeed = 0x736c696465776f72ULL;
constexpr std::uint64_t kCharSeed = 0x736c696465636872ULL;
constexpr std::uint64_t kGamma = 0x9e3779b97f4a7c15ULL;

constexpr std::string_view kReplacement = "\xef\xbf\xbd";  // U+FFFD

std::uint64_t hash_bytes(std::uint64_t seed, std::string_view bytes) {
  std::uint64_t hash = seed + bytes.size() * kGamma;
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
    hash = mix64((hash ^ word) + kGamma);
  }
  return hash;
}

std::uint64_t chain(std::uint64_t hash, std::uint64_t next) {
  return mix64(hash * kGamma + next);
}

std::uint64_t not_zero(std::uint64_t hash) {
  return hash == 0 ? 1 : hash;
}

// ASCII letters, digits and `_`.
constexpr auto kIsWord = [] {
  std::array<bool, 128> is{};
  for (int c = 0; c < 128; ++c) {
    is[static_cast<std::size_t>(c)] =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  return is;
}();

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || c == '\0';
}

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 128;
}

enum class CodeKind { kSeparator, kWord, kMark, kAlone, kIgnorable };

// Scripts without blanks between words, whose characters are approximately words.
bool stands_alone(utf8proc_int32_t code) {
  return (code >= 0x3040 && code <= 0x30ff) || (code >= 0x3400 && code <= 0x4dbf) ||
         (code >= 0x4e00 && code <= 0x9fff) || (code >= 0xf900 && code <= 0xfaff) ||
         (code >= 0x20000 && code <= 0x3ffff);
}

// The role of a code point in words, by its Unicode general category.
CodeKind kind_of(utf8proc_int32_t code) {
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LO:
      return stands_alone(code) ? CodeKind::kAlone : CodeKind::kWord;
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CodeKind::kWord;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return CodeKind::kMark;  // belongs to the preceding character
    case UTF8PROC_CATEGORY_CF:
      return CodeKind::kIgnorable;
    default:
      return CodeKind::kSeparator;
  }
}

// Decodes the code point at `at`; returns its length, 0 for invalid UTF-8.
std::size_t decode(std::string_view text, std::size_t at, utf8proc_int32_t& code) {
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
  const auto left = static_cast<utf8proc_ssize_t>(std::min<std::size_t>(text.size() - at, 4));
  const utf8proc_ssize_t length = utf8proc_iterate(bytes, left, &code);
  return length > 0 ? static_cast<std::size_t>(length) : 0;
}

// The text with U+FFFD for each invalid byte.
std::string valid_utf8(std::string_view raw) {
  std::string valid;
  for (std::size_t at = 0; at < raw.size();) {
    utf8proc_int32_t code = 0;
    const std::size_t length = decode(raw, at, code);
    valid.append(length > 0 ? raw.substr(at, length) : kReplacement);
    at += std::max<std::size_t>(length, 1);
  }
  return valid;
}

// NFC without ignorable code points, case-folded if requested.
std::string normalised(std::string_view valid, bool fold) {
  int options = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_IGNORE;
  if (fold) options |= UTF8PROC_CASEFOLD;
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t bytes = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(valid.data()),
                                              static_cast<utf8proc_ssize_t>(valid.size()), &result,
                                              static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(result, &std::free);
  if (bytes < 0) return std::string(valid);
  return {reinterpret_cast<const char*>(result), static_cast<std::size_t>(bytes)};
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

// Start of the code point that contains the byte at `at`.
std::size_t start_before(std::string_view text, std::size_t at) {
  while (at > 0 && !begins_character(text[at])) --at;
  return at;
}

}  // namespace

std::uint64_t hash_of_token(std::string_view token) {
  return not_zero(hash_bytes(kWordSeed, token));
}

// Tokens first, then the features of tokens and of their n-grams.
void Tokenizer::run(std::string_view text) {
  text_.clear();
  tokens_.clear();
  features_.clear();
  places_.clear();
  if (options_.tokens == TokenKind::kWords) {
    split_words(text);
  } else {
    split_blanks(text);
  }
  add_word_ngrams();
  if (options_.char_ngrams_max == 0) return;
  for (std::size_t t = 0; t < tokens_.size(); ++t) add_char_ngrams(t);
}

// Calls add_token() for each word: a run of letters, digits, marks and `_`. A character that stands alone
// (stands_alone()) begins a new token, which the marks behind it join; a word character after it begins the
// next one. Ignorable code points within a token stay; add_token() drops them.
void Tokenizer::split_words(std::string_view text) {
  std::size_t at = 0, begin = 0;  // the current token is [begin, at)
  bool ascii = true, alone = false;
  const auto end_token = [&](std::size_t next) {
    if (at > begin) add_token(text.substr(begin, at - begin), ascii);
    at = begin = next;
    ascii = true;
    alone = false;
  };
  while (at < text.size()) {
    utf8proc_int32_t code = 0;
    const std::size_t bytes = is_ascii(text[at]) ? 1 : decode(text, at, code);
    CodeKind kind = CodeKind::kSeparator;
    if (is_ascii(text[at])) {
      if (kIsWord[static_cast<unsigned char>(text[at])]) kind = CodeKind::kWord;
    } else if (bytes > 0) {
      kind = kind_of(code);
    }
    const std::size_t next = at + std::max<std::size_t>(bytes, 1);
    const bool starts = kind == CodeKind::kAlone || (alone && kind == CodeKind::kWord);
    if (kind == CodeKind::kSeparator || (kind == CodeKind::kIgnorable && at == begin)) {
      end_token(next);
      continue;
    }
    if (starts) end_token(at);
    alone = alone || kind == CodeKind::kAlone;
    ascii = ascii && is_ascii(text[at]);
    at = next;
  }
  end_token(at);
}

// A token is a run of bytes between white space.
void Tokenizer::split_blanks(std::string_view text) {
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && is_space(text[at])) ++at;
    if (at >= text.size()) return;
    const std::size_t begin = at;
    bool ascii = true;
    for (; at < text.size() && !is_space(text[at]); ++at) ascii = ascii && is_ascii(text[at]);
    if (ascii) {
      add_token(text.substr(begin, at - begin), true);
    } else {
      add_token(valid_utf8(text.substr(begin, at - begin)), false);
    }
  }
}

// Appends the normalised token to text_, and its position and hash to tokens_.
void Tokenizer::add_token(std::string_view raw, bool ascii) {
  const std::size_t begin = text_.size();
  if (ascii) {
    text_.append(raw);
    if (options_.lowercase)
      std::transform(text_.begin() + static_cast<std::ptrdiff_t>(begin), text_.end(),
                     text_.begin() + static_cast<std::ptrdiff_t>(begin), lower);
  } else {
    text_.append(normalised(raw, options_.lowercase));
  }
  const std::size_t bytes = text_.size() - begin;
  if (bytes == 0) return;  // only ignorable code points
  tokens_.push_back({begin, bytes, hash_bytes(kWordSeed, std::string_view(text_).substr(begin))});
}

// Appends the hashes of all runs of 1 to word_ngrams tokens; the hash of a run chains those of its tokens.
void Tokenizer::add_word_ngrams() {
  for (std::size_t first = 0; first < tokens_.size(); ++first) {
    std::uint64_t hash = tokens_[first].hash;
    const std::size_t max_count = std::min<std::size_t>(options_.word_ngrams, tokens_.size() - first);
    for (std::size_t count = 1; count <= max_count; ++count) {
      if (count > 1) hash = chain(hash, tokens_[first + count - 1].hash);
      features_.push_back(not_zero(hash));
      places_.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count), 0, false});
    }
  }
}

// Character n-grams of `<token>`, whose marks are its boundaries, as in fastText. Of a token of more than
// kMaxWordBytes only the beginning, without the end mark. A mark alone is no n-gram.
void Tokenizer::add_char_ngrams(std::size_t token) {
  const std::string_view word = this->token(token);
  const bool whole = word.size() <= kMaxWordBytes;
  marked_.assign(1, '<').append(whole ? word : word.substr(0, start_before(word, kMaxWordBytes)));
  if (whole) marked_.push_back('>');
  starts_.clear();
  for (std::size_t at = 0; at < marked_.size(); ++at) {
    if (begins_character(marked_[at])) starts_.push_back(static_cast<std::uint32_t>(at));
  }
  const std::size_t length = starts_.size();  // code points
  starts_.push_back(static_cast<std::uint32_t>(marked_.size()));
  for (std::size_t first = 0; first < length; ++first) {
    for (std::size_t count = options_.char_ngrams_min; count <= options_.char_ngrams_max; ++count) {
      if (first + count > length) break;
      const bool is_mark = count == 1 && (first == 0 || (whole && first + 1 == length));
      if (is_mark) continue;
      const std::uint32_t begin = starts_[first], bytes = starts_[first + count] - begin;
      features_.push_back(not_zero(hash_bytes(kCharSeed, std::string_view(marked_).substr(begin, bytes))));
      places_.push_back({static_cast<std::uint32_t>(token), bytes, begin, true});
    }
  }
}

// The feature as text: words with blanks between them, or a character n-gram behind ~, with < and > where the
// word begins and ends.
std::string Tokenizer::name(std::size_t i) const {
  const Place& place = places_[i];
  std::string name;
  if (place.characters) {
    const std::string_view word = token(place.token);  // positions include the mark before the word
    const std::size_t end = place.begin + place.count;
    const std::size_t from = place.begin == 0 ? 0 : place.begin - 1;
    name = place.begin == 0 ? "~<" : "~";
    name += word.substr(from, std::min(end - 1, word.size()) - from);
    if (end == word.size() + 2) name += '>';
  } else {
    for (std::size_t t = place.token; t < place.token + place.count; ++t) {
      if (!name.empty()) name += ' ';
      name += token(t);
    }
  }
  if (name.size() > kMaxNameBytes) {
    name.resize(start_before(name, kMaxNameBytes));
  }
  return name;
}

}  // namespace slide
