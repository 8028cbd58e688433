// The refusal of a run that would not fit into memory. Safe from any thread.
#pragma once

#include "engine/network/memory_plan.h"

namespace slide {

// Throws InputError, with the figures and what to change, when training needs more than free_memory(), of
// which `processes` on this machine need as much each.
void require_memory(const MemoryPlan& plan, int processes = 1);

}  // namespace slide
