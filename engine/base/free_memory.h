// How much memory this process may still take. Safe from any thread.
#pragma once

#include <optional>

namespace slide {

// Bytes that this process can still get: what the machine has free, within the limits of its control group
// and of `ulimit -v`. None where the system does not tell.
std::optional<double> free_memory();

}  // namespace slide
