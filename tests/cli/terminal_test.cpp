// Tests of terminal output: lines are no wider than the terminal where words allow it.
#include <gtest/gtest.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <sstream>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

constexpr unsigned short kColumns = 80;

class TerminalTest : public CliTest {
 protected:
  // Output of the program to a terminal of kColumns.
  std::string shown(const std::vector<std::string>& arguments) {
    int terminal = -1;
    const pid_t child = slide_.start(
        arguments,
        [] {
          const winsize size{24, kColumns, 0, 0};
          if (ioctl(STDOUT_FILENO, TIOCSWINSZ, &size) != 0) _exit(97);
        },
        &terminal);
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = read(terminal, buffer, sizeof buffer)) > 0;) text.append(buffer, std::size_t(n));
    EXPECT_EQ(wait_for(child), 0) << text;
    close(terminal);
    return text;
  }
  // The lines, including overwritten ones, without cursor control sequences.
  static std::vector<std::string> lines_of(std::string text) {
    std::replace(text.begin(), text.end(), '\r', '\n');  // start of an overwriting line
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
      lines.push_back(line.starts_with("\033[K") ? line.substr(3) : line);
    return lines;
  }
  static void expect_narrow(const std::string& text) {
    for (const std::string& line : lines_of(text)) EXPECT_LE(line.size(), kColumns) << line;
  }
};

TEST_F(TerminalTest, HelpHasRoomIn80Columns) {
  const Outcome all = slide_.run({"help"});
  expect_narrow(all.out);
  for (const char* command : {"train", "tune", "test", "evaluate", "predict", "serve", "convert", "generate",
                              "inspect", "report", "config", "completion", "man", "help", "version"}) {
    EXPECT_TRUE(contains(all.out, std::string("\n  ") + command)) << command;
    expect_narrow(slide_.run({"help", command}).out);
  }
}

TEST_F(TerminalTest, ARunIsToldWithinTheTerminal) {
  generate();
  const std::string text = shown({"train", "data/train.txt", "--test", "data/test.txt", "--epochs", "1",
                                  "--out", "a-folder-with-a-rather-long-name/and-another-one-in-it"});
  expect_narrow(text);
  for (const char* whole :
       {"p_at_1 ", "recall_at_5 ", "samples/s", "environment.json,", "epoch 1/1  evaluating"})
    EXPECT_TRUE(contains(text, whole));
  const std::string table = shown({"inspect", "a-folder-with-a-rather-long-name/and-another-one-in-it"});
  EXPECT_TRUE(contains(table, "\n    sampled output"));
}

// Output for other programs keeps its lines.
TEST_F(TerminalTest, NothingIsBrokenElsewhere) {
  generate();
  const Outcome done = slide_.run({"train", "data/train.txt", "--test", "data/test.txt", "--epochs", "1"});
  EXPECT_TRUE(std::ranges::any_of(lines_of(done.out), [](const std::string& line) {
    return line.starts_with("  eval 1  p_at_1 ") && line.size() > kColumns;
  })) << done.out;
}

}  // namespace
}  // namespace slide::test
