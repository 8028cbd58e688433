// Read-only content of a file. Files are read into memory in parallel; they are mapped on request, with
// `spill`, and where they would need more than half of the free memory. A file that changes while it is read
// is an error; one that shrinks while mapped ends the process (engine/base/mapped_file.h). Not copyable; safe
// from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/base/aligned.h"
#include "engine/base/mapped_file.h"

namespace slide {

class FileBytes {
 public:
  // Opens the whole file; decompresses gzip and Zstandard. `spill`: uses disk instead of memory, by mapping
  // the file and decompressing into an unnamed file beside `path`. Throws InputError where the file is
  // missing, a folder, unreadable or damaged; Error where it changes meanwhile, or the unnamed file cannot be
  // written.
  explicit FileBytes(const std::string& path, bool spill = false)
      : FileBytes(path, spill ? kSpilled : kRead) {}
  // kRead: into memory. kMapped: maps the file, of any size, and decompresses into memory. kSpilled: maps the
  // file and decompresses into an unnamed file, as with `spill`. `advice` ends the message of a missing file.
  enum Mode { kRead, kMapped, kSpilled };
  FileBytes(const std::string& path, Mode mode, const char* advice = "check the path of the data");
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  // The content, without a byte order mark.
  std::string_view text() const;
  // Releases the pages of a part of text(), where the file is mapped; reading loads them again.
  void release_pages(std::string_view part) const noexcept;

 private:
  void open_whole(const std::string& path, bool map, const char* advice);
  void unpack_to_disk(const std::string& path);
  void refuse_foreign_text(const std::string& path) const;
  std::string_view content() const;

  MappedFile mapped_;
  AlignedArray<char> read_;
  std::string streamed_;  // decompressed, or from a pipe or device
};

// Decompressed content of a file, with its path for messages.
struct NamedBytes {
  std::string_view bytes;
  std::string path;
};

}  // namespace slide
