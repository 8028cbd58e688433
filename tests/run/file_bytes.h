// Model files and checkpoints as bytes.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace slide::test {

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The bytes with a valid checksum.
inline std::string with_checksum(std::string bytes) {
  const std::size_t summed = bytes.size() - 12;
  const auto crc =
      static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), summed));
  std::memcpy(bytes.data() + summed, &crc, sizeof crc);
  return bytes;
}

}  // namespace slide::test
