// What the processes of a run tell each other before it begins. Collective: all ranks make the same calls.
#pragma once

#include <cstdint>

#include "engine/cluster/cluster.h"

namespace slide {

// Throws InputError on every rank, naming the first whose `value` is not that of rank 0; `what`: of what it
// is a checksum.
void require_same(Cluster& cluster, std::uint64_t value, const char* what);

// How many of the processes are on this machine, this one included.
int processes_here(Cluster& cluster);

}  // namespace slide
