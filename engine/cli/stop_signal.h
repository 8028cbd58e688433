// Ctrl-C, SIGTERM and SIGHUP (the terminal is gone) while a command works: as long as there is nothing to
// finish the first ends the process with a line; later it is only noted, so that the command can finish what
// it does, and a second Ctrl-C or SIGTERM ends the process at once, as without this. One object at a time in
// a process.
#pragma once

#include <string>

namespace slide::cli {

class StopSignal {
 public:
  // From now on a signal ends the process with exit code 128 + signal and the line "slide: stopped by SIGINT
  // `last_words`", or as it did where they are empty. Nothing may be under way that must not be cut off.
  explicit StopSignal(std::string last_words);
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // From now on a signal is noted. `this` must not end before the command has looked for it.
  void note_only();
  // The signal that was noted, or 0.
  static int came();
  static const char* name(int signal);
};

}  // namespace slide::cli
