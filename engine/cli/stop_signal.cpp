#include "engine/cli/stop_signal.h"

#include <signal.h>

#include <atomic>
#include <iterator>

namespace slide::cli {

namespace {

// Signals to a process come to any of its threads, two of them to two threads at once.
std::atomic<int> noted = 0;
static_assert(std::atomic<int>::is_always_lock_free);  // as a handler needs it
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
struct sigaction before[std::size(kSignals)];

// Only what is allowed in a handler.
void note(int number) {
  noted = number;
  // A terminal that closes sends SIGHUP more than once, itself and through the shell: that is no second wish.
  for (const int other : kSignals) signal(other, other == SIGHUP ? SIG_IGN : SIG_DFL);
}

}  // namespace

StopSignal::StopSignal() {
  noted = 0;
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(kSignals); ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    // Who started the process may want it to ignore Ctrl-C, as a shell does for background jobs, or SIGHUP,
    // as nohup does.
    if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

StopSignal::~StopSignal() {
  for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before[i], nullptr);
}

int StopSignal::came() {
  return noted;
}

const char* StopSignal::name(int signal) {
  return signal == SIGINT ? "SIGINT" : signal == SIGHUP ? "SIGHUP" : "SIGTERM";
}

}  // namespace slide::cli
