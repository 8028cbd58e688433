// Runs the examples that every help ends in, in a folder with the files that they name.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class ExamplesTest : public CliTest {
 protected:
  static std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  }
  std::vector<std::string> commands() {
    std::vector<std::string> names;
    for (const std::string& line : lines_of(slide_.run({}).out)) {
      if (line.starts_with("  ") && line[2] >= 'a' && line[2] <= 'z' && !line.starts_with("  slide "))
        names.push_back(line.substr(2, line.find(' ', 2) - 2));
    }
    return names;
  }
  // The last lines of a help, without their blanks.
  static std::vector<std::string> examples_of(const std::string& help) {
    const std::vector<std::string> lines = lines_of(help);
    const auto head = std::ranges::find(lines, "Examples:");
    std::vector<std::string> examples;
    for (auto line = head; line != lines.end() && ++line != lines.end();) examples.push_back(line->substr(2));
    return examples;
  }
  // Runs a line of a shell in which `slide` is the program; no function, whose background process would be a
  // shell.
  int run_line(const std::string& line) const {
    const std::string folder = std::filesystem::path(SLIDE_BINARY).parent_path().string();
    const std::string program = "export PATH='" + folder + "':\"$PATH\" OMP_NUM_THREADS=2; ";
    const std::string command = "cd '" + slide_.folder().string() + "' && { " + line + "; }";
    write_file(slide_.path("line.sh"), program + command + "\n");
    return exit_code(std::system(
        ("bash '" + slide_.path("line.sh") + "' > '" + slide_.path("line.out") + "' 2>&1").c_str()));
  }
  void make_files() {
    std::string tickets, log;
    for (int i = 0; i < 60; ++i) {
      tickets += i % 2 == 0 ? R"({"title": "the printer is out of paper", "tags": ["printer", "paper"]})"
                            : R"({"title": "no network in the office", "tags": ["network"]})";
      tickets += "\n";
      for (int j = 0; j < 4; ++j) log += fmt::format("u{},i{},{}\n", i, (i + j) % 9, 1 + j);
    }
    write_file(slide_.path("tickets.jsonl"), tickets);
    write_file(slide_.path("users.txt"), "u1\nu7\n");
    write_file(slide_.path("log.csv"), "user,item,rating\n" + log);
    ASSERT_EQ(run_line("slide generate --samples 300 --features 120 --labels 60 --test-samples 70 --out . && "
                       "slide train train.txt --seed 2 --set train.epochs=1 --out run2 --quiet && "
                       "slide train log.csv --set data.kind=interactions train.epochs=1 --out shop --quiet"),
              0)
        << file("line.out");
  }
  // A search of two trials; a server that ends once it listens.
  static std::string shortened(const std::string& example) {
    if (example.starts_with("slide tune"))
      return std::regex_replace(example, std::regex(" --(minutes|trials) [0-9]+"), "") +
             " --set train.epochs=1 --minutes 10 --trials 2";
    if (!example.starts_with("slide serve")) return example;
    const std::string port = std::regex_replace(example, std::regex(" --port [0-9]+"), "") + " --port 0";
    return ": > told; " + port +
           " > told & slide=$!; until grep -q listening told; do kill -0 $slide || exit 9; done; "
           "kill $slide; wait $slide; test $? = 143 -o $? = 0";
  }
};

TEST_F(ExamplesTest, OfEveryHelpRun) {
  make_files();
  std::vector<std::string> names = commands();
  ASSERT_GE(names.size(), 18U);
  std::stable_partition(names.begin(), names.end(), [](const std::string& name) { return name == "train"; });
  for (const std::string& name : names) {
    const std::vector<std::string> examples = examples_of(slide_.run({name, "--help"}).out);
    ASSERT_EQ(examples.size(), 2U) << name;
    for (const std::string& example : examples) {
      EXPECT_TRUE(contains(example, "slide " + name));
      const std::string line = shortened(example);
      EXPECT_EQ(run_line(line), 0) << example << "\n" << file("line.out").substr(0, 600);
    }
    if (name == "predict") {
      ASSERT_EQ(run_line("slide predict run test.txt > scores.txt"), 0);
    }
  }
  EXPECT_EQ(examples_of(slide_.run({}).out).size(), 2U);
  EXPECT_EQ(examples_of(slide_.run({"help", "train"}).out), examples_of(slide_.run({"train", "--help"}).out));
}

}  // namespace
}  // namespace slide::test
