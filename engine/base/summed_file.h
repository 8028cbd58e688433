// Binary file with a checksum footer that reveals damage:
//
//   values as written by ByteWriter
//   u32 CRC-32 of all preceding bytes, "SLIDEEND"
//
// The file appears under its name only when complete (atomic_file.h). One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/aligned.h"
#include "engine/base/atomic_file.h"
#include "engine/base/byte_io.h"
#include "engine/base/descriptor.h"

namespace slide {

inline constexpr std::size_t kFooterBytes = 4 + 8;  // checksum and end marker

// CRC-32 of the concatenation of bytes with checksum `crc` (0: none) and `bytes`.
std::uint32_t crc_32(std::uint32_t crc, std::string_view bytes);
// CRC-32 of the concatenation of bytes with checksum `crc` and `length` bytes with checksum `next`.
std::uint32_t join_crc_32(std::uint32_t crc, std::uint32_t next, std::uint64_t length);
inline constexpr std::string_view kEndMarker = "SLIDEEND";  // after the checksum

class SummedFile final : public ByteWriter {
 public:
  // Throws Error where the file cannot be written, as do the methods below.
  explicit SummedFile(const std::string& path);

  void write(std::string_view bytes) override;
  // Writes the footer and gives the file its name.
  void finish();

 private:
  void flush();
  void pass_on(std::string_view bytes);

  AtomicFile file_;
  std::string buffer_;
  std::uint32_t crc_ = 0;  // of the bytes written to the file
};

// Reads a checksummed file in pieces, without holding it in memory; concurrent overwriting shows as damage.
class SummedReader final : public ByteReader {
 public:
  // `file`: an open regular file of `file_bytes` bytes. `subject`, `advice`: see ByteReader.
  SummedReader(Descriptor file, std::uint64_t file_bytes, std::string subject, std::string advice);

  // Throws InputError where the file does not end with the end marker, reading nothing else.
  void check_end() const;
  // Reads to the end and returns the checksum. Throws InputError where the file is truncated or the checksum
  // differs. Values read before are unverified until then.
  std::uint32_t finish();

 private:
  std::size_t bring(char* to, std::size_t bytes) override;
  void read(char* to, std::size_t bytes);

  Descriptor file_;
  std::uint64_t at_ = 0;  // bytes read so far
  std::uint32_t crc_ = 0;
  AlignedArray<char> buffer_;
};

}  // namespace slide
