// How much memory this process may still take, and the refusal of a file that unpacks to more. Safe from any
// thread.
#pragma once

#include <optional>
#include <string>

namespace slide {

// Bytes that this process can still get: what the machine has free, within the limits of its control group
// and of `ulimit -v`. None where the system does not tell.
std::optional<double> free_memory();

// Bytes that are not asked about: looking costs more than they do.
inline constexpr double kLittleMemory = 1 << 20;

// Throws InputError, with the figures, when `bytes` that the file at `path` unpacks to are more than is free.
void require_room(double bytes, const std::string& path);

}  // namespace slide
