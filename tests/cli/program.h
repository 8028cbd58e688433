// Runs the program as a user does: a child process with its two outputs and exit code. Not thread-safe.
#pragma once

#include <fmt/format.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/expect.h"
#include "tests/files.h"

namespace slide::test {

using Strings = std::vector<std::string>;

inline Strings operator+(Strings first, const Strings& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

// Exit code of an ended process, 128 + signal when killed.
inline int exit_code(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

inline int wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return exit_code(status);
}

// Waits until `done` holds, at most half a minute.
template <class Done>
bool wait_until(Done done) {
  for (int i = 0; i < 6000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

struct Outcome {
  int code = -1;  // 128 + signal when killed
  std::string out;
  std::string err;
};

// Expects the exit code 0; returns the same.
inline Outcome expect_done(Outcome outcome, const char* file = __builtin_FILE(),
                           int line = __builtin_LINE()) {
  if (outcome.code != 0) ADD_FAILURE_AT(file, line) << "exit code " << outcome.code << ": " << outcome.err;
  return outcome;
}

// Expects the exit code, and of standard error one line of the program that has the part.
inline void expect_refused(const Outcome& outcome, std::string_view part, int code = 2,
                           const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  const testing::ScopedTrace trace(file, line, "expect_refused");
  EXPECT_EQ(outcome.code, code) << outcome.out << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("slide: ")) << outcome.err;
  EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  EXPECT_TRUE(contains(outcome.err, part));
}

// A temporary folder, and the program run in it.
class Program {
 public:
  Program() : folder_(std::filesystem::temp_directory_path() / fmt::format("slide-cli-{}", getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Program() { std::filesystem::remove_all(folder_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  const std::filesystem::path& folder() const { return folder_; }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  // A shell command before every later run, such as `ulimit`.
  void begin_with(const std::string& command) { first_ = command; }

  // `input` goes to standard input; `redirect` may redirect standard output.
  Outcome run(const std::vector<std::string>& arguments, const std::string& input = "",
              const std::string& redirect = "") const {
    write_file(folder_ / "stdin", input);
    const std::string out = redirect.empty() ? "stdout" : redirect;
    Outcome outcome = shell(fmt::format("{} <stdin >{} 2>stderr", command(arguments), out));
    if (!redirect.empty()) outcome.out.clear();
    return outcome;
  }

  // The same, with the output of the shell command `writer` piped to it.
  Outcome run_behind(const std::string& writer, const std::vector<std::string>& arguments) const {
    return shell(fmt::format("{{ {}; }} | {} >stdout 2>stderr", writer, command(arguments)));
  }

  // Starts the program in a child process, in the folder; calls `prepare` in the child first. `terminal`, if
  // given, receives the other end of a new terminal.
  pid_t start(const std::vector<std::string>& arguments, const std::function<void()>& prepare,
              int* terminal = nullptr) const {
    std::vector<char*> words = {const_cast<char*>(SLIDE_BINARY)};
    for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    const pid_t child = terminal == nullptr ? fork() : forkpty(terminal, nullptr, nullptr, nullptr);
    if (child != 0) return child;
    if (chdir(folder_.c_str()) != 0) _exit(99);
    signal(SIGPIPE, SIG_DFL);
    prepare();
    execv(SLIDE_BINARY, words.data());
    _exit(98);
  }

  // Waits for a file; returns whether it appeared.
  bool appears(const std::string& name) const {
    return wait_until([&] { return std::filesystem::exists(path(name)); });
  }

  // The program with its arguments, quoted for the shell.
  static std::string command(const std::vector<std::string>& arguments) {
    std::string command = quoted(SLIDE_BINARY);
    for (const std::string& argument : arguments) command += ' ' + quoted(argument);
    return command;
  }

 private:
  Outcome shell(const std::string& command) const {
    const int status =
        std::system(fmt::format("cd {} && {} && {}", quoted(folder_.string()), first_, command).c_str());
    Outcome outcome;
    outcome.code = exit_code(status);
    outcome.out = read_file(folder_ / "stdout");
    outcome.err = read_file(folder_ / "stderr");
    return outcome;
  }

  static std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
  }

  std::filesystem::path folder_;
  std::string first_ = ":";
};

}  // namespace slide::test
