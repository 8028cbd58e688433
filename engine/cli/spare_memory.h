// Memory reserve for reporting and handling exhausted memory.
#pragma once

namespace slide::cli {

// For the lifetime of the process and all threads: the first failing `new` releases the reserve and retries;
// later ones throw std::bad_alloc. A repeated call restores the reserve where possible.
void hold_spare_memory() noexcept;

}  // namespace slide::cli
