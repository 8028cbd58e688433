#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <cstring>
#include <random>

namespace slide::fuzz {

namespace {

std::size_t mutate_part(std::string& part, std::size_t most) {
  const std::size_t size = part.size();
  part.resize(std::max(size, most));
  return LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(part.data()), size, part.size());
}

}  // namespace

void mutate(std::string& bytes, std::size_t most, unsigned seed) {
  std::minstd_rand random(seed);
  if (bytes.empty() || random() % 4 == 0) {
    bytes.resize(mutate_part(bytes, most));
    return;
  }
  constexpr std::size_t kSizes[] = {1, 4, 8, 64};
  const std::size_t size = std::min(kSizes[random() % 4], bytes.size());
  const std::size_t at = std::uniform_int_distribution<std::size_t>(0, bytes.size() - size)(random);
  std::string part = bytes.substr(at, size);
  const std::size_t changed = std::min(mutate_part(part, size), size);
  std::copy_n(part.begin(), changed, bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

std::size_t put(const std::string& bytes, std::uint8_t* data, std::size_t max_size) {
  const std::size_t size = std::min(bytes.size(), max_size);
  std::memcpy(data, bytes.data(), size);
  return size;
}

std::size_t mutate_and_seal(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned seed,
                            void (*seal)(std::string& bytes)) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  mutate(bytes, max_size, seed);
  seal(bytes);
  return put(bytes, data, max_size);
}

}  // namespace slide::fuzz
