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

#include "engine/base/aligned.h"
#include "engine/base/atomic_file.h"
#include "engine/base/byte_io.h"
#include "engine/base/descriptor.h"

namespace slide {

inline constexpr std::size_t kFooterBytes = 4 + 8;  // checksum and end marker

// CRC-32 of the bytes behind those that `crc` is of; 0: of none.
std::uint32_t crc_32(std::uint32_t crc, std::string_view bytes);
// The same of `length` bytes, of checksum `next`, behind those.
std::uint32_t join_crc_32(std::uint32_t crc, std::uint32_t next, std::uint64_t length);
inline constexpr std::string_view kEndMarker = "SLIDEEND";  // behind the checksum

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

// Reads such a file piece by piece, without ever holding it: what is written over it meanwhile shows as
// damage.
class SummedReader final : public ByteReader {
 public:
  // The regular file open as `file`, of `file_bytes`. `subject` and `advice`: ByteReader.
  SummedReader(Descriptor file, std::uint64_t file_bytes, std::string subject, std::string advice);

  // Reads to the end and refuses a file that is cut off or has another checksum; returns that. What was read
  // before is not known to be good until then.
  std::uint32_t finish();

 private:
  std::size_t bring(char* to, std::size_t bytes) override;
  void read(char* to, std::size_t bytes);

  Descriptor file_;
  std::uint64_t at_ = 0;  // what of the file has been read
  std::uint32_t crc_ = 0;
  AlignedArray<char> buffer_;
};

}  // namespace slide
