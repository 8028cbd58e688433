// Mutates the content of a gzip or Zstandard file and compresses it again; a few mutations change the file
// itself.
#include "datasets/rows/unpack.h"
#include "engine/base/error.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/packing.h"

namespace slide::fuzz {
namespace {

// Returns false where the bytes cannot be decompressed.
bool mutate_content(std::string& bytes, std::size_t most, unsigned seed) {
  if (!is_packed(bytes)) return false;
  const bool gzipped = bytes.starts_with("\x1f\x8b");
  try {
    std::string content = unpack(bytes, "");
    mutate(content, most, seed);
    bytes = gzipped ? pack_gzip(content) : pack_zstd(content);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace
}  // namespace slide::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  using namespace slide::fuzz;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (seed % 2 != 0 || !mutate_content(bytes, max_size, seed / 2)) mutate(bytes, max_size, seed / 2);
  return put(bytes, data, max_size);
}
