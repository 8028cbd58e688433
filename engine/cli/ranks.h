// Commands that several processes run together, where a launcher of MPI has started them.
#pragma once

#include <functional>

#include "engine/cluster/cluster.h"

namespace slide::cli {

// Calls run() with the cluster of this process, or of it alone. Of several processes only the first prints;
// where one fails, it says why by its name and all end, with the exit code of that failure. Ended may be
// thrown where the others end so too, or need this process no more; its code is the first process's alone,
// since a launcher drops what is on its way from the others when one ends otherwise than done.
void run_together(const std::function<void(Cluster&)>& run);

}  // namespace slide::cli
