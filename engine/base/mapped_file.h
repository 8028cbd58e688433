// Read-only memory mapping of a file, for content that may exceed memory. Movable, not copyable; reads are
// safe from any thread.
//
// A file that shrinks while mapped loses pages: touching one raises SIGBUS, which cannot become an exception.
// Signal handlers belong to the program; mapped_path() gives a handler the file's name.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace slide {

class MappedFile {
 public:
  MappedFile() = default;
  // Maps the first `bytes` bytes of the open file `descriptor`, named `path`. is_open() is false where the
  // system cannot map it.
  MappedFile(int descriptor, std::size_t bytes, const std::string& path);

  bool is_open() const { return area_ != nullptr; }
  std::string_view bytes() const;
  // Passes an MADV_ constant for `part` of bytes() to the kernel.
  void advise(std::string_view part, int advice) const noexcept;

 private:
  struct Area;
  struct Unmap {
    void operator()(const Area* area) const noexcept;
  };
  friend const char* mapped_path(const void* address) noexcept;

  std::unique_ptr<const Area, Unmap> area_;
};

// Path of the mapped file that contains `address`, or nullptr. Async-signal-safe.
const char* mapped_path(const void* address) noexcept;

}  // namespace slide
