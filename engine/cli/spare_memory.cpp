#include "engine/cli/spare_memory.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace slide::cli {

namespace {

constexpr std::size_t kSpareBytes = std::size_t{64} << 10;

std::atomic<void*> spare = nullptr;

// JSON destructors of the library allocate a list and must not throw. Large requests fail again after the
// release, and throw while memory suffices for the rest.
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
