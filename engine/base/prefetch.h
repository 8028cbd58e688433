// Software prefetch.
//
// GCC treats a function that only prefetches as free of effects and drops calls to it unless it is inlined
// early (-fipa-pure-const). The empty asm statement counts as an effect and emits no instruction.
//
// For baseline x86-64, GCC does not emit prefetchw, which takes exclusive ownership of a line ahead of a
// write; the instruction is a no-op on processors without it.
#pragma once

#include <cstddef>

#include "engine/base/aligned.h"

namespace slide {

enum class Access { kRead, kWrite };

template <Access access = Access::kRead>
inline void prefetch(const void* at) {
#if defined(__x86_64__)
  if constexpr (access == Access::kWrite) {
    asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(at)));
    return;
  }
#endif
  __builtin_prefetch(at, access == Access::kWrite ? 1 : 0);
  asm volatile("");
}

// Prefetches all cache lines of `bytes` bytes; `at` is aligned to a line.
template <Access access = Access::kRead>
inline void prefetch(const void* at, std::size_t bytes) {
  for (std::size_t b = 0; b < bytes; b += kAlignment) prefetch<access>(static_cast<const char*>(at) + b);
}

}  // namespace slide
