// Memory plan of a run, and refusal of runs that do not fit. Safe from any thread, except collective calls.
#pragma once

#include <cstddef>

#include "engine/cluster/cluster.h"
#include "engine/config/config.h"
#include "engine/knn/training_rows.h"
#include "engine/network/block_bounds.h"
#include "engine/training/memory_plan.h"

namespace slide {

// Memory of training on `rows` besides the rows, for this process. `evaluated`: samples of the largest
// evaluation. Here and below, `cluster` is nullptr or Alone for a single process.
MemoryPlan plan_run(const Config& config, const TrainingRows& rows, int threads, std::size_t evaluated,
                    const Cluster* cluster = nullptr);
// Lower bound for the same sizes without samples: memory per feature and label, known before allocation.
// Catches a single huge id in a file. Includes the choice of feature crosses.
MemoryPlan plan_least(const Config& config, const Dataset& train, int threads,
                      const Cluster* cluster = nullptr);

// Throws InputError, with the figures and advice, where training needs more than free_memory(); each process
// of this machine counts with an equal need. Collective.
void require_memory(const MemoryPlan& plan, Cluster* cluster = nullptr);

}  // namespace slide
