// Mutates a model file or a checkpoint and corrects its footer and length. A few mutations change only the
// configuration, and its length.
#include <algorithm>

#include "engine/base/summed_file.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/summed.h"

namespace slide::fuzz {
namespace {

bool mutate_config(std::string& file, std::size_t most, unsigned seed) {
  std::optional<std::string> config = config_of(file);
  if (!config) return false;
  mutate(*config, config->size() + most - file.size(), seed);
  replace_config(file, *config);
  return true;
}

}  // namespace
}  // namespace slide::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  using namespace slide;
  using namespace slide::fuzz;
  if (max_size <= kFooterBytes) return LLVMFuzzerMutate(data, size, max_size);
  std::string file(reinterpret_cast<const char*>(data), size);
  unseal(file);
  const std::size_t most = max_size - kFooterBytes;
  file.resize(std::min(file.size(), most));
  if (seed % 4 != 0 || !mutate_config(file, most, seed)) mutate(file, most, seed);
  seal(file);
  return put(file, data, max_size);
}
