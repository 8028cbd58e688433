// Probes of the machine's peak performance, the reference of the kernel benchmarks.
//
// Each call is short: on a shared machine, clock rate and bandwidth fluctuate, so that a share of the peak is
// meaningful only if the peak is measured directly beside the kernel.
#pragma once

#include <cstddef>

namespace slide::bench {

// Current single-precision operations per second of one core, on independent fused multiply-adds in the
// active instruction set; takes about 50 microseconds.
double peak_flops();

// Size of memory to traverse for far accesses: exceeds a core's share of any cache.
inline constexpr std::size_t kFarBytes = std::size_t{1} << 29;

// Current bytes per second that one core reads sequentially from kFarBytes; takes a fraction of a
// millisecond. Not thread-safe.
double peak_bandwidth();

// Current bytes per second that one core reads from its first-level cache by the widest loads of the active
// instruction set, each added to a sum; takes about 50 microseconds.
double peak_near_bytes();

// Current bytes per second that one core reads from kFarBytes in rows of `row_bytes` bytes, a multiple of a
// cache line, at random places that are known many rows ahead; takes a fraction of a millisecond. Not
// thread-safe.
double peak_scattered(std::size_t row_bytes);

}  // namespace slide::bench
