// Memory still available to this process, and refusal of files that decompress to more. Safe from any thread.
#pragma once

#include <optional>
#include <string>

namespace slide {

// Available bytes: free memory of the machine, limited by the control groups of this process
// (memory_group.h) and by `ulimit -v`. nullopt where the system does not say.
std::optional<double> free_memory();

// Requests up to this size are not checked: the check costs more.
inline constexpr double kLittleMemory = 1 << 20;

// Throws InputError, with both figures, where the decompressed size `bytes` of the file at `path` exceeds the
// available memory.
void require_room(double bytes, const std::string& path);

}  // namespace slide
