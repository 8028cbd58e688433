#include "datasets/formats/npy_text.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "datasets/rows/text_encoding.h"
#include "engine/base/byte_io.h"
#include "engine/base/error.h"
#include "engine/base/free_memory.h"

namespace slide {

namespace {

constexpr char32_t kReplacementCharacter = U'\xFFFD';

// Appends the characters of valid UTF-8.
void append_characters(std::string_view valid, std::u32string& characters) {
  for (std::size_t at = 0; at < valid.size();) {
    const auto lead = static_cast<unsigned char>(valid[at]);
    const std::size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t character = bytes == 1 ? lead : lead & (0x7FU >> bytes);
    for (std::size_t i = 1; i < bytes; ++i)
      character = character << 6 | (static_cast<unsigned char>(valid[at + i]) & 0x3F);
    characters += character;
    at += bytes;
  }
}

// Decodes UTF-8; U+FFFD for each byte outside a valid character.
std::u32string decode_utf8(std::string_view text) {
  std::u32string characters;
  while (!text.empty()) {
    const std::size_t valid = first_no_utf8(text).value_or(text.size());
    append_characters(text.substr(0, valid), characters);
    text.remove_prefix(valid);
    if (text.empty()) break;
    characters += kReplacementCharacter;
    text.remove_prefix(1);
  }
  return characters;
}

// Appends a character in UTF-8; U+FFFD for a surrogate or a number above U+10FFFF.
void append_utf8(char32_t character, std::string& text) {
  const bool is_surrogate = character >= 0xD800 && character < 0xE000;
  if (is_surrogate || character > 0x10FFFF) character = kReplacementCharacter;
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  const auto put_next = [&](int shift) { put(0x80 | (character >> shift & 0x3F)); };
  if (character < 0x80) return put(character);
  if (character < 0x800) return put(0xC0 | character >> 6), put_next(0);
  if (character < 0x10000) return put(0xE0 | character >> 12), put_next(6), put_next(0);
  put(0xF0 | character >> 18), put_next(12), put_next(6), put_next(0);
}

// Characters of an item of text, without zeros at the end.
std::string text_of_item(std::string_view item) {
  std::u32string characters(item.size() / sizeof(char32_t), U'\0');
  std::memcpy(characters.data(), item.data(), characters.size() * sizeof(char32_t));
  while (!characters.empty() && characters.back() == 0) characters.pop_back();
  std::string text;
  for (const char32_t character : characters) append_utf8(character, text);
  return text;
}

std::string bytes_of_item(std::string_view item) {
  return std::string(item.substr(0, item.find_last_not_of('\0') + 1));
}

std::vector<std::string> texts_of_numbers(const NpyArray& array, const NpyName& name) {
  std::vector<std::uint64_t> numbers;
  if (!array.whole_numbers(numbers)) name.fail(fmt::format("{} holds no text", name.name));
  const bool has_sign = array.header().type.front() == 'i';
  std::vector<std::string> texts;
  texts.reserve(numbers.size());
  for (const std::uint64_t number : numbers)
    texts.push_back(has_sign ? std::to_string(static_cast<std::int64_t>(number)) : std::to_string(number));
  return texts;
}

}  // namespace

std::uint64_t npy_text_size(const std::vector<std::string>& texts) {
  std::size_t longest = 1;
  for (const std::string& text : texts) longest = std::max(longest, text.size());
  return std::uint64_t{texts.size()} * longest * sizeof(char32_t);
}

std::string npy_text_bytes(const std::vector<std::string>& texts) {
  std::vector<std::u32string> all;
  std::size_t longest = 1;
  for (const std::string& text : texts)
    longest = std::max(longest, all.emplace_back(decode_utf8(text)).size());
  std::vector<char32_t> items(texts.size() * longest);
  for (std::size_t i = 0; i < all.size(); ++i)
    std::ranges::copy(all[i], items.begin() + static_cast<std::ptrdiff_t>(i * longest));
  return npy_bytes(fmt::format("<U{}", longest), fmt::format("({},)", texts.size()), bytes_of(items));
}

std::vector<std::string> read_npy_texts(std::string bytes, const NpyName& name) {
  const NpyArray array(std::move(bytes), name);
  const NpyHeader& header = array.header();
  if (header.shape.size() != 1) name.fail(fmt::format("{} is no list", name.name));
  const char type = header.type.front();
  require_room(double(header.count) * sizeof(std::string), name.path);
  if (type != 'U' && type != 'S') return texts_of_numbers(array, name);
  std::vector<std::string> texts;
  texts.reserve(header.count);
  const std::string_view items = array.items();
  const std::size_t width = header.count == 0 ? 0 : items.size() / header.count;
  for (std::size_t i = 0; i < header.count; ++i) {
    const std::string_view item = items.substr(i * width, width);
    texts.push_back(type == 'U' ? text_of_item(item) : bytes_of_item(item));
  }
  return texts;
}

}  // namespace slide
