// Fuzz target: the cache beside a data file, opened with the key that it states. cache_mutator.cpp keeps its
// checksums valid.
#include <cstring>

#include "datasets/cache_file.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace slide;
  using namespace slide::fuzz;
  constexpr std::size_t kKeyAt = 16;  // after magic and byte order
  CacheKey key;
  if (size < kKeyAt + sizeof key) return 0;
  std::memcpy(&key, data + kKeyAt, sizeof key);
  static const MemoryFile file;
  file.write(text_of(data, size));
  ReadOptions options;
  options.threads = 1;
  const auto rows = map_cache(file.descriptor(), file.path(), key, options);
  if (!rows) return 0;
  check_rows(*rows);
  return 0;
}
