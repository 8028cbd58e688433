// What a run takes of memory, and the refusal of one that would not fit. Safe from any thread.
#pragma once

#include "datasets/dataset.h"
#include "engine/cluster/cluster.h"
#include "engine/config/config.h"
#include "engine/network/memory_plan.h"

namespace slide {

// What training on `train` takes, of this process alone where there is a cluster (else nullptr).
MemoryPlan plan_run(const Config& config, const Dataset& train, int threads, const Cluster* cluster);

// Throws InputError, with the figures and what to change, when training needs more than free_memory(), of
// which `processes` on this machine need as much each.
void require_memory(const MemoryPlan& plan, int processes = 1);

}  // namespace slide
