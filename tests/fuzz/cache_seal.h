// Checksums of a cache file, implemented a second time: the writer (datasets/cache_file.cpp) cannot write
// mutated content. fuzz_seeds compares the two. Pure functions.
#pragma once

#include <string>

namespace slide::fuzz {

// Corrects length, array checksum (arrays smaller than a block) and header checksum.
void seal_cache(std::string& bytes);

}  // namespace slide::fuzz
