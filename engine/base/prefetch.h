// Asking for memory ahead of its use.
//
// A function that does nothing but prefetch has no effects that GCC sees: where it is not inlined soon, calls
// of it are left out (-fipa-pure-const). The empty asm statement is an effect, and no instruction.
//
// For code that runs on all of x86-64, GCC does not use prefetchw, which takes a line from the other cores at
// once where a later write would have to. Processors that do not know it do nothing.
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

// All cache lines of `bytes` bytes that begin at the start of one.
template <Access access = Access::kRead>
inline void prefetch(const void* at, std::size_t bytes) {
  for (std::size_t b = 0; b < bytes; b += kAlignment) prefetch<access>(static_cast<const char*>(at) + b);
}

}  // namespace slide
