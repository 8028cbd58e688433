// The bytes of a file, read-only: mapped where the file allows it, else read into memory (pipes, devices).
// Movable, not copyable; safe to read from any thread. A file must not shrink while it is mapped.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace slide {

class FileBytes {
 public:
  // Opens `path` whole; gzip content is unpacked. Throws InputError when the file is missing, a folder, not
  // readable, or damaged gzip.
  // With `spill`, unpacked content takes disk instead of memory: it goes to an unnamed file beside `path`;
  // then also throws Error when that file cannot be written.
  explicit FileBytes(const std::string& path, bool spill = false);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  std::string_view text() const { return mapping_ != nullptr ? mapped() : std::string_view(buffer_); }
  // Gives the memory of a part of text() back, as far as the file can bring it again. It stays readable.
  void let_go(std::string_view part) const noexcept;

 private:
  std::string_view mapped() const { return {static_cast<const char*>(mapping_), mapped_bytes_}; }
  void map_or_read(int descriptor, const std::string& path);
  bool map(int descriptor, std::size_t bytes) noexcept;
  void unpack_to_disk(const std::string& path);
  void unmap() noexcept;

  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::string buffer_;
};

// The unpacked bytes of a file; the path is for messages.
struct NamedBytes {
  std::string_view bytes;
  std::string path;
};

// Whether the bytes start like gzip.
bool is_gzip(std::string_view bytes);

// Unpacks gzip, one or several members. Throws InputError that names `origin` when the data is cut off or
// damaged.
std::string unpack_gzip(std::string_view bytes, const std::string& origin);

}  // namespace slide
