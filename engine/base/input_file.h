// Opens and reads files that a user names; refuses devices and pipes that would block forever. Functions are
// safe from any thread.
#pragma once

#include <cstddef>
#include <string>

#include "engine/base/descriptor.h"

namespace slide {

inline constexpr std::size_t kMaxTextBytes = std::size_t{1} << 24;  // of a configuration, of facts of a run

// Throws InputError, naming `name`, where `descriptor` is a device without an end, such as /dev/zero: one
// other than a terminal and /dev/null.
void refuse_endless(int descriptor, const std::string& name);

// Opens a file, pipe or folder for reading; not open, with errno, where that fails. Throws InputError for a
// device without an end, and for a named pipe that no program opens for writing within 5
// s.
Descriptor open_input(const std::string& path);

// The whole content of a text file of `max_bytes` or fewer. O(bytes). Throws what open_input() throws, and
// InputError for a folder, a longer file or stream, or one that cannot be opened, with `advice` ("check the
// path") where the latter; std::bad_alloc without memory.
std::string read_text_file(const std::string& path, const std::string& advice,
                           std::size_t max_bytes = kMaxTextBytes);

}  // namespace slide
