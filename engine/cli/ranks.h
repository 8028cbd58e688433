// Commands that several processes run together under an MPI launcher.
#pragma once

#include <functional>

#include "engine/cluster/cluster.h"

namespace slide::cli {

// Calls run() with the cluster of this process. Only rank 0 prints; where a process fails, it prints the
// reason with its name and all processes end with the exit code of that failure. run() may throw Ended where
// the other processes do so too, or do not need this process any more; only rank 0 uses its code, since a
// launcher discards pending output when a process ends with a nonzero code.
void run_together(const std::function<void(Cluster&)>& run);

}  // namespace slide::cli
