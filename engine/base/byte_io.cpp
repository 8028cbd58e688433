#include "engine/base/byte_io.h"

#include "engine/base/error.h"

namespace slide {

void ByteReader::refuse(const char* what) const {
  fail_input("{} ({}); {}", subject_, what, advice_);
}

std::string_view ByteReader::take(std::uint64_t bytes) {
  if (bytes > rest_.size()) refuse("its parts do not fit its length");
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

std::string_view ByteReader::take_values(std::uint64_t count, std::size_t size) {
  if (count > rest_.size() / size) refuse("its parts do not fit its length");
  return take(count * size);
}

std::uint64_t ByteReader::get_count(std::size_t bytes, const char* what) {
  const auto count = get<std::uint64_t>();
  if (count > rest_.size() / bytes) refuse(what);
  return count;
}

}  // namespace slide
