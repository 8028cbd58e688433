#include "engine/cli/text.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/base/error.h"
#include "engine/cli/commands.h"

namespace slide::cli {

namespace {
bool quiet = false;
bool another_tells = false;
bool status_shown = false;
bool outlive_output = false;

// Whether the last write failed because nobody reads any more: a pipe that is closed, a terminal that is
// gone.
bool nobody_reads() {
  struct stat out {};
  return errno == EPIPE || (errno == EIO && fstat(STDOUT_FILENO, &out) == 0 && S_ISCHR(out.st_mode));
}
}  // namespace

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::string memory_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

bool has_status_line() {
  return !quiet && isatty(STDOUT_FILENO) != 0;
}

void be_quiet() {
  quiet = true;
}

void leave_words_to_another() {
  quiet = another_tells = true;
}

void show_status(std::string_view line) {
  if ((line.empty() && !status_shown) || !has_status_line()) return;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
    line = line.substr(0, size.ws_col - 1U);
  const std::string text = fmt::format("\r\033[K{}", line);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);  // print_text() tells what fails
  status_shown = !line.empty();
}

void print_text(std::string_view text) {
  if (quiet) return;
  show_status("");
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    if (nobody_reads()) {
      if (!outlive_output) throw Ended{128 + SIGPIPE};
      be_quiet();
      return complain("nobody reads standard output any more; going on without it");
    }
    fail_run("cannot write to standard output ({})", std::strerror(errno));
  }
}

void go_on_without_output() {
  outlive_output = true;
}

void complain(std::string_view line) {
  const std::string text = fmt::format("slide: {}\n", one_line(std::string(line)));
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void tell(const std::vector<std::string>& notes) {
  if (another_tells) return;
  for (const std::string& note : notes) complain(note);
}

}  // namespace slide::cli
