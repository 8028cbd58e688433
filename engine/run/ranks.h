// Agreement between the processes of a run before it begins. Collective: all ranks make the same calls.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/sidecar/label_pairs.h"
#include "engine/cluster/cluster.h"
#include "engine/config/config.h"
#include "engine/model/model.h"
#include "engine/run/run_data.h"

namespace slide {

// Throws InputError on every rank if the `value` of some rank differs from the value of rank 0; names the
// first such rank. `what`: what `value` is a checksum of.
void require_same(Cluster& cluster, std::uint64_t value, const char* what);

// Number of processes on this machine, this one included.
int processes_here(Cluster& cluster);

// Each process reads its data itself; a cache is written by the first process and read by the others.
// `cluster`: nullptr for a single process.
RunData read_together(const Config& config, int threads, bool skip_bad, Cluster* cluster);

// Throws InputError on every rank where one has another version, configuration (except paths and threads) or
// instruction set. Before data are read: what is read together depends on the configuration.
void require_same_config(Cluster& cluster, const Config& config);
// Throws InputError on every rank where the data of the ranks differ.
void require_same_data(Cluster& cluster, const RunData& data);

// Throws InputError on every rank where the model files of the ranks differ.
void require_same_file(Cluster& cluster, const Model& model);
// require_same() for the next rows of an input (nullptr at its end) and for excluded pairs. No effect in a
// single process.
void require_same_rows(Cluster& cluster, const Dataset* rows);
void require_same_pairs(Cluster& cluster, const LabelPairs& pairs, std::size_t samples);

// Number of threads of this process: `requested` if positive, else the number of cores, or this process's
// share of them where other processes of the machine may use them too. Here and below, `cluster` is nullptr
// or Alone for a single process.
int own_threads(int requested, Cluster* cluster);

// Processors to bind this process's threads to, ascending, among those that it may use. Processes of a
// machine with the same set share it out (share_of() in pinning.h), one thread per processor at most. Throws
// InputError on every rank where the sets of two processes overlap only partly.
std::vector<int> own_processors(Cluster* cluster);

}  // namespace slide
