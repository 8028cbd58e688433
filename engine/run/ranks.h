// What the processes of a run tell each other before it begins. Collective: all ranks make the same calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/cluster/cluster.h"
#include "engine/config/config.h"
#include "engine/run/run_data.h"

namespace slide {

// Throws InputError on every rank, naming the first whose `value` is not that of rank 0; `what`: of what it
// is a checksum.
void require_same(Cluster& cluster, std::uint64_t value, const char* what);

// How many of the processes are on this machine, this one included.
int processes_here(Cluster& cluster);

// Parts the network among the processes where `config` says nothing of parts, and returns a note that says
// so, or an empty one.
std::string part_among(const Cluster& cluster, Config& config);

// Each process reads for itself; a cache is written by the first, and read by the others. `cluster`: nullptr
// for one process.
RunData read_together(const Config& config, int threads, bool skip_bad, Cluster* cluster);

// Throws InputError on every rank where one has another version, configuration (but for paths and threads),
// data or instruction set.
void require_same_run(Cluster& cluster, const Config& config, const RunData& data);

// How many threads this process takes: `requested` if positive, else as many as there are cores, or its part
// of them where other processes of the machine may run on them, too. Here and below, `cluster` is nullptr or
// alone where there is one process.
int own_threads(int requested, Cluster* cluster);

// The processors that threads of this process may be bound to: those that it may run on, ascending. Processes
// of a machine that may run on the same ones share them out (share_of() in pinning.h), so that no two threads
// are bound to one. Throws InputError on every rank if two may run on some of the same processors only.
std::vector<int> own_processors(Cluster* cluster);

}  // namespace slide
