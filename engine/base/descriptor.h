// Owns a file descriptor and closes it at the end of a scope. Movable, not copyable.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace slide {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  int get() const { return value_; }
  bool is_open() const { return value_ >= 0; }

 private:
  int value_ = -1;
};

// Reads up to `bytes` bytes at `offset`; retries after interruptions. Returns the number of bytes read (fewer
// only at the end of the file), or -1 with errno.
ssize_t read_at(int file, char* to, std::size_t bytes, std::uint64_t offset);

}  // namespace slide
