// A file mapped for reading: for what may be larger than memory, and for what must not take any. Whatever
// else is better read. Movable, not copyable; safe to read from any thread.
//
// A file that shrinks while it is mapped takes its pages away: touching one raises SIGBUS, which no exception
// can follow. What then happens is for the program to say, since handlers belong to the process;
// mapped_path() names the file in one.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace slide {

class MappedFile {
 public:
  MappedFile() = default;
  // The first `bytes` of the file open as `descriptor`, called `path`. Not open where the system cannot map
  // it.
  MappedFile(int descriptor, std::size_t bytes, const std::string& path);

  bool is_open() const { return area_ != nullptr; }
  std::string_view bytes() const;
  // Tells the kernel how `part` of bytes() will be used, by an MADV_ constant.
  void advise(std::string_view part, int advice) const noexcept;

 private:
  struct Area;
  struct Unmap {
    void operator()(const Area* area) const noexcept;
  };
  friend const char* mapped_path(const void* address) noexcept;

  std::unique_ptr<const Area, Unmap> area_;
};

// The path of the mapped file that `address` lies in, or nullptr. May be called in a signal handler.
const char* mapped_path(const void* address) noexcept;

}  // namespace slide
