// How much memory a run may still take, and the refusal of one that would not fit. Safe from any thread.
#pragma once

#include <optional>

#include "engine/network/memory_plan.h"

namespace slide {

// Bytes that this process can still get: what the machine has free, within the limits of its control group
// and of `ulimit -v`. None where the system does not tell.
std::optional<double> free_memory();

// Throws InputError, with the figures and what to change, when training needs more than free_memory().
void require_memory(const MemoryPlan& plan);

}  // namespace slide
