#include "engine/base/descriptor.h"

#include <cerrno>

namespace slide {

// Repeats pread() until all bytes are read or the file ends.
ssize_t read_at(int file, char* to, std::size_t bytes, std::uint64_t offset) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got = pread(file, to + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return -1;
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return static_cast<ssize_t>(done);
}

}  // namespace slide
