// What the machine can do at most, measured: the yardsticks of the kernel benchmarks.
//
// Each call is short. A shared machine's clock and bandwidth change from moment to moment, so that a share of
// the peak is only worth something when the peak is taken right beside what is measured.
#pragma once

#include <cstddef>

namespace slide::bench {

// Single-precision floating-point operations a second of one core on independent fused multiply-adds, now, in
// the instruction set in use; takes some 50 microseconds.
double peak_flops();

// Size of memory that is walked through to be far away: more than a core's share of any cache.
inline constexpr std::size_t kFarBytes = std::size_t{1} << 29;

// Bytes a second that one core reads one behind the other from kFarBytes, now; takes a fraction of a
// millisecond. Not thread-safe.
double peak_bandwidth();

}  // namespace slide::bench
