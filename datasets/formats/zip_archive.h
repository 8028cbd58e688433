// Zip archives, as .npz files need them: stored or deflated members of any size (zip64). Section numbers are
// of PKWARE's APPNOTE.TXT, version 6.3.10. Functions are safe from any thread, for different archives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/rows/file_bytes.h"
#include "engine/base/atomic_file.h"

namespace slide {

// Entry of a member in the central directory (4.3.12).
struct ZipEntry {
  std::string name;
  std::uint16_t flags = 0, method = 0;
  std::uint32_t checksum = 0;
  std::uint64_t compressed = 0, size = 0;  // bytes in the archive and decompressed
  std::uint64_t header = 0;                // offset of the local header
};

// Reads the members of an archive, whose bytes must outlive it. Safe from any thread.
class ZipReader {
 public:
  // Throws InputError where the bytes are not a complete archive.
  explicit ZipReader(const NamedBytes& file);

  const std::string& path() const { return file_.path; }
  bool has(std::string_view name) const;
  // Decompressed content of a member. Throws InputError where it does not exist, is damaged, encrypted,
  // compressed by another method, or larger than available memory.
  std::string read(const std::string& name) const;

 private:
  const NamedBytes& file_;
  std::vector<ZipEntry> entries_;
};

struct ZipMember {
  std::string name;
  std::string bytes;
};

// Sizes and offsets from this value on are written as 64-bit fields. The margin below 2^32 leaves room for
// the compressed size, which may exceed the original.
inline constexpr std::uint64_t kZip64From = 0xF0000000;

// Writes an archive of deflated members into `file`, opened for writes in any order; does not finish the
// file. Equal members give equal bytes. Throws Error where the file cannot be written. Only tests change
// `zip64_from`.
void write_zip(AtomicFile& file, const std::vector<ZipMember>& members,
               std::uint64_t zip64_from = kZip64From);

}  // namespace slide
