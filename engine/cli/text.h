// How the program writes numbers and text for people. Pure functions, except print().
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

// Bytes as "512 B", "12.3 MB"; units of 2^10.
std::string memory_text(double bytes);

// `text` in lines of at most `width` columns where its words allow, those behind the first with `indent`
// blanks in front. Lines are broken between fields, which two blanks part, and within a field between words.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

// The same of every line of `text`, as wide as the terminal, where standard output is one; else `text`.
std::string for_terminal(std::string text);

// How samples for validation were chosen, as split_rule() says, behind their number: " (whole groups)". Empty
// where they were drawn or are of a file.
std::string_view chosen_text(std::string_view by);

// From now on print() writes nothing.
void be_quiet();

// From now on neither print() nor tell() does: another process says the same.
void leave_words_to_another();

// Shows `line` in place of the status line before, which any print() takes away; an empty one only does that.
// Nothing unless standard output is a terminal.
void show_status(std::string_view line);
bool has_status_line();  // whether it is

// The status line of an evaluation, `what` and how far it is, five times a second at most; for any thread.
class EvaluationStatus {
 public:
  EvaluationStatus();
  void show(std::string_view what, std::size_t done, std::size_t all);

 private:
  std::mutex mutex_;  // of the fields below; who finds it taken shows nothing
  std::chrono::steady_clock::time_point shown_;
};

// Writes to standard output, unbuffered. Throws Error where that fails, and Ended, to exit silently, where
// standard output is closed.
void print_text(std::string_view text);

// From now on a closed standard output only silences print(): for commands whose result is files.
void go_on_without_output();

// Writes a line to standard error; ignores failures.
void complain(std::string_view line);

// Words for people: lines that are too long for the terminal are broken between words.
template <class... Args>
void print(fmt::format_string<Args...> format, Args&&... args) {
  print_text(for_terminal(fmt::format(format, std::forward<Args>(args)...)));
}

// Writes what a user should know to standard error, a line each, as Model::notes.
void tell(const std::vector<std::string>& notes);

}  // namespace slide::cli
