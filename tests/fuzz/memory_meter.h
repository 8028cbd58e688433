// Memory that the process has allocated, by replaced operators new and delete of the program that links this;
// areas of allocate_zeroed() are counted at the next call of operator new.
#pragma once

#include <cstddef>

namespace slide::fuzz {

// Begins to measure.
void begin_measuring();
// Largest number of bytes at one time since then, beyond those allocated at its beginning.
std::size_t peak_bytes();

}  // namespace slide::fuzz
