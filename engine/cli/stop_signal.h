// Ctrl-C, SIGTERM and SIGHUP (the terminal is gone) while a command can finish what it does: the first is
// only noted, a second Ctrl-C or SIGTERM ends the process at once, as without this. One object at a time in a
// process.
#pragma once

namespace slide::cli {

class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // The signal that came, or 0.
  static int came();
  static const char* name(int signal);
};

}  // namespace slide::cli
