// What the machine can do at most, measured: the yardsticks of the kernel benchmarks.
//
// Each call is short. A shared machine's clock and bandwidth change from moment to moment, so that a share of
// the peak is only worth something when the peak is taken right beside what is measured.
#pragma once

namespace slide::bench {

// Single-precision floating-point operations a second of one core on independent fused multiply-adds, now, in
// the instruction set in use; takes some 50 microseconds.
double peak_flops();

// Bytes a second that one core reads one behind the other from a buffer larger than the last-level cache,
// now; takes a fraction of a millisecond. Not thread-safe.
double peak_bandwidth();

}  // namespace slide::bench
