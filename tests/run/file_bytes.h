// Model files and checkpoints as bytes.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "tests/expect.h"
#include "tests/files.h"

namespace slide::test {

// The bytes with a valid checksum.
inline std::string with_checksum(std::string bytes) {
  const std::size_t summed = bytes.size() - 12;
  const auto crc =
      static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), summed));
  std::memcpy(bytes.data() + summed, &crc, sizeof crc);
  return bytes;
}

// The message of the InputError that reading `path` by `body` throws, one line that names the file; empty
// where it throws none.
template <class F>
std::string file_error(const std::string& path, F&& body) {
  std::string message = input_error(body);
  EXPECT_TRUE(message.empty() || message.starts_with(path)) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  return message;
}

}  // namespace slide::test
