#include "engine/base/byte_io.h"

#include <algorithm>

#include "engine/base/error.h"

namespace slide {

namespace {

constexpr std::string_view kTooShort = "its parts do not fit its length";
constexpr std::size_t kSkipBytes = std::size_t{1} << 16;

}  // namespace

void ByteReader::refuse(std::string_view what) const {
  fail_input("{} ({}); {}", subject_, what, advice_);
}

void ByteReader::require(std::uint64_t count, std::size_t size) const {
  if (count > left() / size) refuse(kTooShort);
}

std::size_t ByteReader::bring(char*, std::size_t) {
  refuse(kTooShort);
}

// Bytes in memory first, further ones by bring().
void ByteReader::copy(char* to, std::size_t bytes) {
  while (bytes > 0) {
    std::size_t now = std::min(bytes, rest_.size());
    if (now > 0) {
      std::memcpy(to, rest_.data(), now);
      rest_.remove_prefix(now);
    } else {
      now = bring(to, bytes);
    }
    to += now;
    bytes -= now;
  }
}

// A view of the bytes where they are in memory, else of a copy in taken_.
std::string_view ByteReader::take(std::uint64_t bytes) {
  require(bytes, 1);
  if (bytes <= rest_.size()) {
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  taken_.resize(bytes);
  copy(taken_.data(), bytes);
  return taken_;
}

void ByteReader::skip(std::uint64_t bytes) {
  require(bytes, 1);
  while (bytes > 0) bytes -= take(std::min<std::uint64_t>(bytes, kSkipBytes)).size();
}

std::uint64_t ByteReader::get_count(std::size_t bytes, std::string_view what) {
  const auto count = get<std::uint64_t>();
  if (count > left() / bytes) refuse(what);
  return count;
}

}  // namespace slide
