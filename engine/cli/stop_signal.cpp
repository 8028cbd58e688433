#include "engine/cli/stop_signal.h"

#include <signal.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <iterator>
#include <string_view>
#include <utility>

namespace slide::cli {

namespace {

// A signal to a process may arrive on any thread, two signals on two threads at once.
std::atomic<int> noted = 0;
static_assert(std::atomic<int>::is_always_lock_free);  // required in a handler
constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
struct sigaction before[std::size(kSignals)];
std::string words;  // for end_at_once()

// Async-signal-safe, like the functions below.
void note(int number) {
  noted = number;
  // A closing terminal sends SIGHUP more than once, directly and through the shell; that is not a second
  // request.
  for (const int other : kSignals) signal(other, other == SIGHUP ? SIG_IGN : SIG_DFL);
}

// Handler before note_only(): prints one line and ends the process. A cache being written does not appear
// (atomic_file.h).
void end_at_once(int number) {
  if (noted.exchange(number) != 0) return;  // another thread ends the process
  note(number);
  const std::string_view parts[] = {"slide: stopped by ", StopSignal::name(number), " ", words, "\n"};
  iovec line[std::size(parts)];
  for (std::size_t i = 0; i < std::size(parts); ++i)
    line[i] = {const_cast<char*>(parts[i].data()), parts[i].size()};
  static_cast<void>(writev(STDERR_FILENO, line, std::size(line)) < 0);
  _exit(128 + number);
}

// The parent process may want Ctrl-C ignored, as shells do for background jobs, or SIGHUP, as nohup does.
void handle(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : kSignals) sigaddset(&action.sa_mask, number);
  for (std::size_t i = 0; i < std::size(kSignals); ++i)
    if (before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &action, nullptr);
}

}  // namespace

StopSignal::StopSignal(std::string last_words) {
  words = std::move(last_words);
  noted = 0;
  for (std::size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], nullptr, &before[i]);
  if (!words.empty()) handle(end_at_once);
}

void StopSignal::note_only() {
  handle(note);
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
