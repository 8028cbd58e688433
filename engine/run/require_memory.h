// What a run takes of memory, and the refusal of one that would not fit. Safe from any thread.
#pragma once

#include <cstddef>

#include "engine/cluster/cluster.h"
#include "engine/config/config.h"
#include "engine/features/training_rows.h"
#include "engine/network/block_bounds.h"
#include "engine/network/memory_plan.h"

namespace slide {

// What training on `rows` takes beside them, of this process alone where there are several. Here and below,
// `cluster` is nullptr or alone where there is one.
MemoryPlan plan_run(const Config& config, const TrainingRows& rows, int threads,
                    const Cluster* cluster = nullptr);
// The same as if samples were empty: what features and labels alone take, known before there is anything for
// each of them. A single large number in a file can ask for more than there is.
MemoryPlan plan_least(const Config& config, const Dataset& train, int threads,
                      const Cluster* cluster = nullptr);

// Throws InputError, with the figures and what to change, when training needs more than free_memory(), of
// which all processes on this machine need as much each. Collective.
void require_memory(const MemoryPlan& plan, Cluster* cluster = nullptr);

}  // namespace slide
