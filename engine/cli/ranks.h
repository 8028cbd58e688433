// Commands that several processes run together under an MPI launcher.
#pragma once

#include <functional>
#include <string_view>

#include "engine/cluster/cluster.h"

namespace slide::cli {

// Calls run() with the cluster of this process, after all processes have agreed on `command`. Only rank 0
// prints; where a process fails, it prints the reason with its name and all processes end with the exit code
// of that failure. run() may throw Ended where the other processes do so too, or do not need this process any
// more; only rank 0 uses its code, since a launcher discards pending output when a process ends with a
// nonzero code.
void run_together(std::string_view command, const std::function<void(Cluster&)>& run);

// Throws InputError on every rank where one has other options. Collective; nothing for a single process.
void require_same_options(Cluster& cluster, std::string_view options);

}  // namespace slide::cli
