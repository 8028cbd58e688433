// The refusal of a run that would not fit into memory. Safe from any thread.
#pragma once

#include "engine/network/memory_plan.h"

namespace slide {

// Throws InputError, with the figures and what to change, when training needs more than free_memory().
void require_memory(const MemoryPlan& plan);

}  // namespace slide
