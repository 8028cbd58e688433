#include "engine/cli/text.h"

#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/base/error.h"
#include "engine/cli/commands.h"

namespace slide::cli {

namespace {
bool quiet = false;
bool silent = false;
bool status_shown = false;
bool outlive_output = false;
std::string (*log_format)(std::string_view event, std::string_view line) = nullptr;

// Whether the last write failed because the output is closed: a pipe without a reader, a terminal that hung
// up.
bool is_closed_output() {
  struct stat out {};
  return errno == EPIPE || (errno == EIO && fstat(STDOUT_FILENO, &out) == 0 && S_ISCHR(out.st_mode));
}

// Columns of the terminal at standard output; 0 without a terminal or where unknown.
std::size_t terminal_columns() {
  winsize size{};
  return isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Position to break a line longer than `room`, after column `from`: at the last double blank within, else at
// the last blank, else at the first blank after. The length of the line where there is none.
std::size_t break_of(std::string_view line, std::size_t from, std::size_t room) {
  for (const std::string_view gap : {"  ", " "}) {
    const std::size_t at = line.rfind(gap, room);
    const std::size_t begin = at == std::string_view::npos ? at : line.find_last_not_of(' ', at);
    if (begin != std::string_view::npos && begin + 1 > from) return begin + 1;
  }
  return std::min(line.find(' ', std::max(from, room)), line.size());
}
}  // namespace

// Breaks a line at blanks to `width` columns; continuation lines are indented.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result;
  std::size_t from = std::min(text.find_first_not_of(' '), text.size());  // leading blanks
  std::size_t room = width;
  while (text.size() > room) {
    const std::size_t end = break_of(text, from, room);
    result += text.substr(0, end);
    text.remove_prefix(std::min(text.find_first_not_of(' ', end), text.size()));
    if (text.empty()) return result;
    result += '\n' + std::string(indent, ' ');
    from = 0;
    room = width > indent ? width - indent : 1;
  }
  return result += text;
}

std::string for_terminal(std::string text) {
  constexpr std::size_t kMinColumns = 20;  // fewer are not worth wrapping
  constexpr std::size_t kIndent = 4;
  const std::size_t width = terminal_columns();
  if (width < kMinColumns || text.size() <= width) return text;
  std::string result;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    result += wrapped(rest.substr(0, end), width, kIndent);
    if (end < rest.size()) result += '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return result;
}

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

std::string_view chosen_text(std::string_view by) {
  if (by == "group") return " (whole groups)";
  if (by == "time") return " (the latest)";
  if (by == "order") return " (the last of the file)";
  if (by == "group and time") return " (the latest groups)";
  return by == "group and order" ? " (the last groups of the file)" : "";
}

void be_quiet() {
  quiet = true;
}

void silence_output() {
  quiet = silent = true;
}

void show_status(std::string_view line) {
  if ((line.empty() && !status_shown) || !has_status_line()) return;
  const std::size_t columns = terminal_columns();
  if (columns > 1 && line.size() >= columns) line = line.substr(0, break_of(line, 0, columns - 1));
  if (columns > 1) line = line.substr(0, columns - 1);
  const std::string text = fmt::format("\r\033[K{}", line);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);  // print_text() reports failures
  status_shown = !line.empty();
}

EvaluationStatus::EvaluationStatus() : shown_(std::chrono::steady_clock::now()) {}

void EvaluationStatus::show(std::string_view what, std::size_t done, std::size_t all) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  const auto now = std::chrono::steady_clock::now();
  if (!lock || now - shown_ < std::chrono::milliseconds(200)) return;
  shown_ = now;
  show_status(fmt::format("{}  {} of {} samples", what, grouped(done), grouped(all)));
}

// Prints to standard output. Where the reader is gone, ends the command, or with outlive_output goes silent.
void print_text(std::string_view text) {
  if (quiet) return;
  show_status("");
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) {
    if (is_closed_output()) {
      if (!outlive_output) throw Ended{128 + SIGPIPE};
      be_quiet();
      return log_line("standard output is closed; continuing without it", "warning");
    }
    fail_run("cannot write to standard output ({})", std::strerror(errno));
  }
}

void tolerate_closed_output() {
  outlive_output = true;
}

void print_error(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void log_line(std::string_view line, std::string_view event) {
  const std::string text = one_line(std::string(line));
  print_error(log_format != nullptr ? log_format(event, text) : fmt::format("slide: {}\n", text));
}

void set_log_format(std::string (*form)(std::string_view event, std::string_view line)) {
  log_format = form;
}

void print_notes(const std::vector<std::string>& notes) {
  if (silent) return;
  for (const std::string& note : notes) log_line(note, "note");
}

}  // namespace slide::cli
