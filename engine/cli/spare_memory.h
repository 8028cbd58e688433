// Memory held back for when there is none left: to tell it, and to end what was under way, which takes a
// little.
#pragma once

namespace slide::cli {

// For the life of the process, for all threads: the first `new` that gets no memory gives the spare back and
// tries again, later ones throw std::bad_alloc. Called again, holds some back again, where there is some.
void hold_spare_memory() noexcept;

}  // namespace slide::cli
