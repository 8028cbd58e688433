// Output of numbers and text for people. Functions are pure, except output functions.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace slide::cli {

// 1234567 -> "1,234,567".
std::string grouped(std::uint64_t number);

// Bytes as "512 B", "12.3 MB"; units of powers of 2^10.
std::string memory_text(double bytes);

// Wraps `text` to lines of at most `width` columns, continuation lines indented by `indent` blanks. Breaks
// between fields (separated by two blanks) where possible, else between words.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

// Wraps every line of `text` to the width of the terminal, if standard output is one.
std::string for_terminal(std::string text);

// Rule of the choice of validation samples (split_rule()), to print after their number: " (whole groups)";
// empty for random samples and for a file.
std::string_view chosen_text(std::string_view by);

// From now on print() has no effect.
void be_quiet();

// From now on print() and print_notes() have no effect: another process prints the same.
void silence_output();

// Replaces the current status line by `line` (empty: removes it); print() removes it too. No effect unless
// standard output is a terminal.
void show_status(std::string_view line);
bool has_status_line();  // whether show_status() has an effect

// Status line of an evaluation, `what` and its progress, at most five times per second; thread-safe.
class EvaluationStatus {
 public:
  EvaluationStatus();
  void show(std::string_view what, std::size_t done, std::size_t all);

 private:
  std::mutex mutex_;  // of the fields below; on contention nothing is shown
  std::chrono::steady_clock::time_point shown_;
};

// Writes to standard output, unbuffered. Throws Error where that fails, and Ended, to exit silently, where
// standard output is closed.
void print_text(std::string_view text);

// From now on a closed standard output only silences print(): for commands whose result is files.
void tolerate_closed_output();

// Writes text to standard error as it is; ignores failures.
void print_error(std::string_view text);

// Writes a line to standard error; ignores failures. `event`: kind of line ("error", "warning", "note").
void log_line(std::string_view line, std::string_view event = "error");

// From now on log_line() and print_notes() write form(event, line), as for logs in JSON, in place of "slide:
// line".
void set_log_format(std::string (*form)(std::string_view event, std::string_view line));

// Formats for people: lines wider than the terminal are broken between words.
template <class... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  print_text(for_terminal(fmt::format(format, std::forward<Args>(args)...)));
}

// Writes notes for the user to standard error, one per line.
void print_notes(const std::vector<std::string>& notes);

}  // namespace slide::cli
