#include "engine/cluster/launch.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "engine/base/number_text.h"

namespace slide {

namespace {

bool is_set(const char* name) {
  return std::getenv(name) != nullptr;
}

// The number in an environment variable, or 0.
int count_in(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) return 0;
  return std::max(number_of<int>(text).value_or(0), 0);
}

}  // namespace

// Asks the variables of each launcher in turn. `managed`: a process manager (PMI or PMIx) connects the
// processes.
int launched_processes() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const int count = count_in(name); count > 0) return count;
  }
  const bool managed = is_set("PMIX_RANK") || is_set("PMI_RANK") || is_set("PMI_FD") || is_set("PMI2_FD");
  if (managed && is_set("SLURM_PROCID")) {
    if (const int count = count_in("SLURM_STEP_NUM_TASKS"); count > 0) return count;
  }
  if (managed) return 0;
  const int here = count_in("MPI_LOCALNRANKS");  // counts only this machine
  return here > 0 ? 0 : 1;
}

int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    if (is_set(name)) return count_in(name);
  }
  return 0;
}

}  // namespace slide
