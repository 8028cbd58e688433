#include "engine/cli/spare_memory.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace slide::cli {

namespace {

constexpr std::size_t kSpareBytes = std::size_t{64} << 10;

std::atomic<void*> spare = nullptr;

// Libraries free values of JSON by way of a list that they allocate, where they cannot throw. What is large
// gets nothing the second time either, and throws while there is enough for the rest.
void give_back() {
  void* memory = spare.exchange(nullptr);
  if (memory == nullptr) throw std::bad_alloc();
  std::free(memory);
}

}  // namespace

void hold_spare_memory() noexcept {
  if (spare.load() == nullptr) std::free(spare.exchange(std::malloc(kSpareBytes)));
  std::set_new_handler(give_back);
}

}  // namespace slide::cli
