// What `slide --version` prints. Safe from any thread.
#pragma once

#include <string>

namespace slide::cli {

// The version, the commit that the program was built from and the instruction set that it uses on this
// machine: "slide 0.1.0 (commit 1a2b3c4d5e, avx2)". A + behind the commit: the sources differed from it.
// Sources that are no checkout have none. Throws InputError where SLIDE_SIMD names an instruction set that
// the machine lacks.
std::string version_line();

}  // namespace slide::cli
