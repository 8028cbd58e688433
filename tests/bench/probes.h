// What the machine can do at most, measured: the yardsticks of the kernel benchmarks.
#pragma once

namespace slide::bench {

// Single-precision floating-point operations a second of one core on independent fused multiply-adds, best
// of several runs, in the instruction set in use.
double peak_flops();

// Bytes a second that one core reads from a buffer larger than the last-level cache.
double peak_bandwidth();

}  // namespace slide::bench
