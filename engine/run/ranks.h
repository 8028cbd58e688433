// What the processes of a run tell each other before it begins. Collective: all ranks make the same calls.
#pragma once

#include <cstdint>
#include <string>

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

// The threads of this process: `threads`, or where that is 0, its part of the machine's cores. Collective
// only then, and where there are several processes.
int own_threads(int threads, Cluster& cluster);

}  // namespace slide
