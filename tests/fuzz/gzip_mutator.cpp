// Mutates what a gzip file holds and packs it again; one in a few mutations changes the file itself.
#include "datasets/file_bytes.h"
#include "engine/base/error.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/packing.h"

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  using namespace slide;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  try {
    if (seed % 2 != 0 || !is_gzip(bytes)) throw InputError("as it is");
    std::string text = unpack_gzip(bytes, "");
    fuzz::mutate(text, max_size, seed / 2);
    bytes = fuzz::pack_gzip(text);
  } catch (const InputError&) {
    fuzz::mutate(bytes, max_size, seed / 2);
  }
  return fuzz::put(bytes, data, max_size);
}
