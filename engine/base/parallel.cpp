#include "engine/base/parallel.h"

#include <omp.h>

namespace slide {

int available_threads() { return omp_get_max_threads(); }

int current_thread() { return omp_get_thread_num(); }

int resolve_threads(int requested) { return requested > 0 ? requested : available_threads(); }

}  // namespace slide
