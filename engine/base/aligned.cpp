#include "engine/base/aligned.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "engine/base/error.h"

namespace slide {

namespace {
// min bytes of an area that is mapped outside the heap
constexpr std::size_t kMapped = std::size_t{128} << 10;

std::atomic<std::size_t> mapped{0};  // bytes
}  // namespace

// Small areas come from the heap, larger ones are mapped.
void* allocate_zeroed(std::size_t bytes) {
  if (bytes < kMapped) {
    void* memory = std::aligned_alloc(kAlignment, round_up(bytes, kAlignment));
    if (memory == nullptr) fail_run("out of memory: {} bytes asked for", bytes);
    std::memset(memory, 0, bytes);
    return memory;
  }
  // Fresh anonymous pages are zero and cost nothing until touched: arrays are sized for the largest block,
  // and most blocks are much smaller.
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail_run("out of memory: {:.1f} MB asked for", double(bytes) / 1e6);
  mapped.fetch_add(bytes, std::memory_order_relaxed);
  if (bytes >= kLargePage) madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void release(void* memory, std::size_t bytes) noexcept {
  if (bytes < kMapped) {
    std::free(memory);
  } else {
    munmap(memory, bytes);
    mapped.fetch_sub(bytes, std::memory_order_relaxed);
  }
}

std::size_t release_behind(void* memory, std::size_t bytes, std::size_t kept) noexcept {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t rest = round_up(std::max(kept, kMapped), page);  // keeps the area mapped
  if (bytes < kMapped || rest >= bytes) return bytes;
  if (munmap(static_cast<char*>(memory) + rest, bytes - rest) != 0) return bytes;
  mapped.fetch_sub(bytes - rest, std::memory_order_relaxed);
  return rest;
}

void request_large_pages(void* memory, std::size_t bytes) noexcept {
  if (bytes < 2 * kLargePage) return;
  const auto begin = round_up(reinterpret_cast<std::uintptr_t>(memory), kLargePage);
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / kLargePage * kLargePage;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

std::size_t mapped_bytes() noexcept {
  return mapped.load(std::memory_order_relaxed);
}

}  // namespace slide
