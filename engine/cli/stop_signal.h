// Handling of Ctrl-C, SIGTERM and SIGHUP during a command. While there is nothing to finish, the first signal
// ends the process with one line; later it is only recorded, so that the command can finish its work, and a
// second Ctrl-C or SIGTERM ends the process at once. One object at a time per process.
#pragma once

#include <string>

namespace slide::cli {

class StopSignal {
 public:
  // From now on a signal ends the process with exit code 128 + signal and the line "slide: stopped by SIGINT
  // `last_words`", or with the default effect where `last_words` is empty. No operation that must not be
  // interrupted may be pending.
  explicit StopSignal(std::string last_words);
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // From now on a signal is only recorded; the command must check came() before `this` is destroyed.
  void note_only();
  // The recorded signal, or 0.
  static int came();
  static const char* name(int signal);
};

}  // namespace slide::cli
