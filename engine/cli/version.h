// Output of `slide --version`. Safe from any thread.
#pragma once

#include <string>

namespace slide::cli {

// Version, commit of the build and instruction set on this machine: "slide 0.1.0 (commit 1a2b3c4d5e, avx2)";
// a + after the commit marks modified sources; no commit for sources without a repository. Throws InputError
// where SLIDE_SIMD names an unsupported instruction set.
std::string version_line();

}  // namespace slide::cli
