// Zip archives, as far as .npz files need them: members stored as they are or deflated, of any size (zip64).
// After PKWARE's APPNOTE.TXT, 6.3.10, sections 4.3 to 4.5. Functions are safe to call from any thread, on
// different archives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/file_bytes.h"
#include "engine/base/atomic_file.h"

namespace slide {

// What the directory at the end of an archive says of a member.
struct ZipEntry {
  std::string name;
  std::uint16_t flags = 0, method = 0;
  std::uint32_t checksum = 0;
  std::uint64_t packed = 0, size = 0;  // bytes
  std::uint64_t header = 0;            // where in the file the member begins
};

// Reads the members of an archive, whose bytes outlive it. Safe from several threads.
class ZipReader {
 public:
  // Throws InputError when the bytes are no whole archive.
  explicit ZipReader(const NamedBytes& file);

  const std::string& path() const { return file_.path; }
  // The unpacked bytes of a member. Throws InputError when there is none of this name, or it is damaged,
  // encrypted or packed in another way, or unpacks to more than there is memory for.
  std::string read(const std::string& name) const;

 private:
  const NamedBytes& file_;
  std::vector<ZipEntry> entries_;
};

struct ZipMember {
  std::string name;
  std::string bytes;
};

// From so many bytes on, of a member or before it, numbers of 64 bits are written; below, those of 32 bits
// hold what a member is packed into, too.
inline constexpr std::uint64_t kZip64From = 0xF0000000;

// Writes an archive into a file for any order, which is left to be finished. The same members give the same
// bytes. Throws Error when it cannot be written. `zip64_from` is another value in tests alone.
void write_zip(AtomicFile& file, const std::vector<ZipMember>& members,
               std::uint64_t zip64_from = kZip64From);

}  // namespace slide
