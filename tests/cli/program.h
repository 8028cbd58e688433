// Runs the program as a user does: a child process, its two outputs and its exit code. Not thread-safe.
#pragma once

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace slide::test {

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

struct Outcome {
  int code = -1;  // 128 + signal when killed
  std::string out;
  std::string err;
};

// A folder that is removed at the end, and the program run in it.
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

  // A shell command that every later run begins with, such as one of `ulimit`.
  void begin_with(const std::string& command) { first_ = command; }

  // `input` goes to standard input; `redirect` may send standard output elsewhere.
  Outcome run(const std::vector<std::string>& arguments, const std::string& input = "",
              const std::string& redirect = "") const {
    write_file(folder_ / "stdin", input);
    const std::string out = redirect.empty() ? "stdout" : redirect;
    std::string command =
        fmt::format("cd {} && {} && {}", quoted(folder_.string()), first_, quoted(SLIDE_BINARY));
    for (const std::string& argument : arguments) command += ' ' + quoted(argument);
    command += fmt::format(" <stdin >{} 2>stderr", out);
    const int status = std::system(command.c_str());
    Outcome outcome;
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.out = redirect.empty() ? read_file(folder_ / "stdout") : "";
    outcome.err = read_file(folder_ / "stderr");
    return outcome;
  }

 private:
  static std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return result + "'";
  }

  std::filesystem::path folder_;
  std::string first_ = ":";
};

}  // namespace slide::test
