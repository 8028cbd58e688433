#include "engine/cli/fatal_signals.h"

#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <iterator>
#include <string_view>

#include "engine/base/mapped_file.h"

namespace slide::cli {

namespace {

std::atomic_flag has_reported;
int exit_code = 0;

// Handler of SIGBUS: prints the name of the mapped file that lost its pages, and ends the process. Uses only
// async-signal-safe functions. Existing files, also checkpoints, stay: files get their names when complete.
void name_lost_file(int number, siginfo_t* info, void*) {
  const char* path = mapped_path(info->si_addr);
  if (path == nullptr) {
    signal(number, SIG_DFL);  // the fault repeats, without a handler
    return;
  }
  while (has_reported.test_and_set()) pause();  // another thread reports it and ends the process
  const std::string_view parts[] = {
      "slide: ", path,
      ": it was cut off, or its disk failed, while it was in use; put it back and start again\n"};
  iovec line[std::size(parts)];
  for (std::size_t i = 0; i < std::size(parts); ++i)
    line[i] = {const_cast<char*>(parts[i].data()), parts[i].size()};
  static_cast<void>(writev(STDERR_FILENO, line, std::size(line)) < 0);
  _exit(exit_code);
}

}  // namespace

void name_lost_files(int code) {
  exit_code = code;
  struct sigaction action {};
  action.sa_sigaction = name_lost_file;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace slide::cli
