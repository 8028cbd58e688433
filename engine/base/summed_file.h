// A file of values that ends in a checksum of them, so that damage shows:
//
//   values as ByteWriter puts them
//   u32 CRC-32 of all bytes before it, "SLIDEEND"
//
// It appears under its name only when it is whole (atomic_file.h). For one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/atomic_file.h"
#include "engine/base/byte_io.h"

namespace slide {

inline constexpr std::size_t kFooterBytes = 4 + 8;  // checksum and end marker

// CRC-32 of the bytes behind those that `crc` is of; 0: of none.
std::uint32_t crc_32(std::uint32_t crc, std::string_view bytes);

class SummedFile final : public ByteWriter {
 public:
  // Throws Error, here and below, when the file cannot be written.
  explicit SummedFile(const std::string& path);

  void write(std::string_view bytes) override;
  // Puts the footer and gives the file its name.
  void finish();

 private:
  void flush();
  void pass_on(std::string_view bytes);

  AtomicFile file_;
  std::string buffer_;
  std::uint32_t crc_ = 0;  // of what is in the file
};

// The checksum of a whole file with its footer. When that is wrong, refused in the words of `in`.
std::uint32_t check_footer(std::string_view file, const ByteReader& in);

}  // namespace slide
