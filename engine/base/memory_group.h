// Free memory within the limits of the control groups (cgroups) of this process: versions 1 and 2, with the
// groups around it. Safe from any thread.
#pragma once

#include <optional>
#include <string>

namespace slide {

// Min over the group of this process and the groups around it of limit - usage + page cache of the group,
// which the kernel reclaims before it refuses memory. At least 0; nullopt where no group has a limit. `root`:
// the folder with proc/ and sys/, for tests.
std::optional<double> group_free(const std::string& root = "/");

}  // namespace slide
