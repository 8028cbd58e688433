// Zip archives in memory and on disk; the only user of libzip. Functions are safe to call from any thread, on
// different archives.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "datasets/file_bytes.h"

struct zip;  // of libzip

namespace slide {

struct ZipDiscard {
  void operator()(zip* archive) const;
};
using ZipHandle = std::unique_ptr<zip, ZipDiscard>;

// Reads the members of an archive, whose bytes outlive it. For one thread at a time.
class ZipReader {
 public:
  // Throws InputError when the bytes are no whole archive.
  explicit ZipReader(const NamedBytes& file);

  const std::string& path() const { return file_.path; }
  // The unpacked bytes of a member. Throws InputError when there is none of this name, or its checksum is
  // wrong, or it unpacks to more than there is memory for.
  std::string read(const std::string& name) const;

 private:
  const NamedBytes& file_;
  ZipHandle archive_;
};

struct ZipMember {
  std::string name;
  std::string bytes;
};

// Writes an archive that appears under its name when it is whole. The same members give the same bytes.
// Throws Error when it cannot be written.
void write_zip(const std::string& path, const std::vector<ZipMember>& members);

}  // namespace slide
