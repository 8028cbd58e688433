#include "tests/fuzz/memory_meter.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "engine/base/aligned.h"

namespace {

std::atomic<std::size_t> held{0}, peak{0}, at_begin{0};

void count(std::size_t now) {
  std::size_t before = peak.load(std::memory_order_relaxed);
  while (now > before && !peak.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
}

}  // namespace

void* operator new(std::size_t bytes) {
  for (;;) {
    if (void* memory = std::malloc(std::max<std::size_t>(1, bytes))) {
      const std::size_t own = malloc_usable_size(memory);
      count(held.fetch_add(own, std::memory_order_relaxed) + own + slide::mapped_bytes());
      return memory;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

void operator delete(void* memory) noexcept {
  if (memory != nullptr) held.fetch_sub(malloc_usable_size(memory), std::memory_order_relaxed);
  std::free(memory);
}
void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
  operator delete(memory);
}
void* operator new[](std::size_t bytes) {
  return operator new(bytes);
}
void operator delete[](void* memory) noexcept {
  operator delete(memory);
}
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept {
  operator delete(memory);
}

void* operator new(std::size_t bytes, const std::nothrow_t& /*tag*/) noexcept {
  try {
    return operator new(bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t bytes, const std::nothrow_t& tag) noexcept {
  return operator new(bytes, tag);
}

namespace slide::fuzz {

void begin_measuring() {
  at_begin = held + mapped_bytes();
  peak = at_begin.load();
}

std::size_t peak_bytes() {
  return peak - std::min(peak.load(), at_begin.load());
}

}  // namespace slide::fuzz
