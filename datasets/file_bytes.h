// The bytes of a file, read-only. A file is read into memory, in parallel; it is mapped where that is asked
// for, where it is not to take any memory, and where it would take more than half of what is free. A file
// that changes while it is read is an error; one that shrinks while it is mapped ends the process
// (engine/base/mapped_file.h). Not copyable; safe to read from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/base/aligned.h"
#include "engine/base/mapped_file.h"

namespace slide {

class FileBytes {
 public:
  // Opens `path` whole; what gzip or Zstandard packed is unpacked. Throws InputError when the file is
  // missing, a folder, not readable, damaged, or text in UTF-16, and Error when it changes meanwhile. With
  // `spill`, content takes disk instead of memory: the file is mapped, and unpacked content goes to an
  // unnamed file beside `path`; then also throws Error when that file cannot be written.
  explicit FileBytes(const std::string& path, bool spill = false)
      : FileBytes(path, spill ? kSpilled : kRead) {}
  // kMapped: a file that is not packed is mapped, whatever its size. kSpilled: with `spill`.
  enum Way { kRead, kMapped, kSpilled };
  FileBytes(const std::string& path, Way way);
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  // Without the byte order mark that some editors begin a text with.
  std::string_view text() const;
  // Gives the memory of a part of text() back, as far as the file can bring it again. It stays readable.
  void let_go(std::string_view part) const noexcept;

 private:
  void open_whole(const std::string& path, bool map);
  void unpack_to_disk(const std::string& path);
  void refuse_wide(const std::string& path) const;
  std::string_view all() const;

  MappedFile mapped_;
  AlignedArray<char> read_;
  std::string streamed_;  // unpacked, or from a pipe or device
};

// The unpacked bytes of a file; the path is for messages.
struct NamedBytes {
  std::string_view bytes;
  std::string path;
};

}  // namespace slide
