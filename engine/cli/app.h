// The command line: parses it, runs one command, and converts failures to one line on standard error and an
// exit code.
#pragma once

namespace slide::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;    // the run failed: disk, memory, a NaN loss
inline constexpr int kExitBadInput = 2;  // bad usage, configuration, data or model
inline constexpr int kExitBadRows = 3;   // done, but --skip-bad skipped malformed rows

int run(int argc, char** argv);

}  // namespace slide::cli
