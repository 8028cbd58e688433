// The command line: parses it, runs one command, turns failures into one line on standard error and an exit
// code.
#pragma once

namespace slide::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;    // the run failed: disk, memory, a loss that is no number
inline constexpr int kExitBadInput = 2;  // bad usage, configuration, data or model
inline constexpr int kExitBadRows = 3;   // done but for rows with faults, which --skip-bad left out

int run(int argc, char** argv);

}  // namespace slide::cli
