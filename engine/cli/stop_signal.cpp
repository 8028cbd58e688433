#include "engine/cli/stop_signal.h"

#include <signal.h>

namespace slide::cli {

namespace {

volatile sig_atomic_t noted = 0;
struct sigaction before[2];
constexpr int kSignals[2] = {SIGINT, SIGTERM};

// Only what is allowed in a handler.
void note(int number) {
  noted = number;
  for (const int other : kSignals) signal(other, SIG_DFL);
}

}  // namespace

StopSignal::StopSignal() {
  noted = 0;
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < 2; ++i) {
    sigaction(kSignals[i], nullptr, &before[i]);
    // Who started the process may want it to ignore Ctrl-C, as a shell does for background jobs.
    if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
  }
}

StopSignal::~StopSignal() {
  for (int i = 0; i < 2; ++i) sigaction(kSignals[i], &before[i], nullptr);
}

int StopSignal::came() {
  return noted;
}

const char* StopSignal::name(int signal) {
  return signal == SIGINT ? "SIGINT" : "SIGTERM";
}

}  // namespace slide::cli
