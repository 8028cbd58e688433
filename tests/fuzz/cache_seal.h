// The checksums of a cache file, made a second time: what writes it (datasets/cache_file.cpp) would not write
// what a mutation leaves. fuzz_seeds compares the two. Pure.
#pragma once

#include <string>

namespace slide::fuzz {

// Puts the length and the checksums of arrays, of less than a block, and header right.
void seal_cache(std::string& bytes);

}  // namespace slide::fuzz
