// Mutates the cache of a data file; corrects its length and checksums.
#include "tests/fuzz/cache_seal.h"
#include "tests/fuzz/mutate.h"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  return slide::fuzz::mutate_and_seal(data, size, max_size, seed, slide::fuzz::seal_cache);
}
