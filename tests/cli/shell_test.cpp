// Tests of help, reference, completion and manual page.
#include <gtest/gtest.h>

#include <cstdlib>
#include <regex>
#include <sstream>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class ShellTest : public CliTest {
 protected:
  // Whether `command` succeeds in the program's folder; true also where `program` is not installed.
  bool runs(const std::string& program, const std::string& command) const {
    if (std::system(("command -v " + program + " > /dev/null").c_str()) != 0) return true;
    return std::system(("cd '" + slide_.folder().string() + "' && " + command).c_str()) == 0;
  }
};

TEST_F(ShellTest, HelpVersionAndDocumentation) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"}, {"train", "--help"}, {"test", "-h"}, {"predict", "--help"}}) {
    const Outcome help = slide_.run(arguments);
    EXPECT_EQ(help.code, 0);
    EXPECT_NE(help.out.find("Usage: slide"), std::string::npos);
  }
  const Outcome doc = slide_.run({"config", "--doc"});
  EXPECT_EQ(doc.code, 0);
  EXPECT_NE(doc.out.find("`block_size`"), std::string::npos);
}

TEST_F(ShellTest, VersionNamesTheCommitAndTheInstructionSet) {
  slide_.begin_with("export SLIDE_SIMD=scalar");
  const Outcome version = slide_.run({"--version"});
  EXPECT_EQ(version.code, 0) << version.err;
  const std::regex line("slide [0-9]+\\.[0-9]+\\.[0-9]+ \\((commit [0-9a-f]{10,}\\+?, )?scalar\\)\n");
  EXPECT_TRUE(std::regex_match(version.out, line)) << version.out;
  slide_.begin_with("export SLIDE_SIMD=sse9");
  const Outcome refused = slide_.run({"--version"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("SLIDE_SIMD=sse9: no such instruction set here"), std::string::npos)
      << refused.err;
}

TEST_F(ShellTest, BashCompletesCommandsAndTheirOptions) {
  const Outcome script = slide_.run({"completion", "bash"});
  ASSERT_EQ(script.code, 0) << script.err;
  EXPECT_EQ(slide_.run({"completion", "tcsh"}).code, 2);
  write_file(slide_.path("ask.sh"), script.out + "COMP_WORDS=(slide \"$@\")\nCOMP_CWORD=$#\n_slide\n" +
                                        "echo \"${COMPREPLY[*]}\" > answer\n");
  const auto answer = [&](const std::string& words) {
    const int status = std::system(("cd '" + slide_.folder().string() + "' && bash ask.sh " + words).c_str());
    return status == 0 ? read_file(slide_.path("answer")) : "failed";
  };
  EXPECT_EQ(answer("tr"), "train\n");
  EXPECT_EQ(answer("train --res"), "--resume\n");
  EXPECT_EQ(answer("predict --thres"), "--threshold\n");
  EXPECT_EQ(answer("train fi"), "\n");  // the shell completes files itself
}

TEST_F(ShellTest, ZshCompletesCommandsAndTheirOptions) {
  const Outcome script = slide_.run({"completion", "zsh"});
  ASSERT_EQ(script.code, 0) << script.err;
  EXPECT_TRUE(script.out.starts_with("#compdef slide\n"));
  for (const char* part :
       {"      'inspect:Tell what a model, a configuration or data are\\: layers, memory, labels'\n",
        "    train)\n      _arguments", "        '--resume[Go on with the stopped run", "]:DIR:_files' \\\n",
        "        '*--set[Overrides one key", "default\\: the model'\\''s]:full|lsh:(full lsh)' \\\n",
        "        '--quiet[Print nothing but failures]' \\\n", "        '-o[File to write]:FILE:_files' \\\n"})
    EXPECT_NE(script.out.find(part), std::string::npos) << part;
  write_file(slide_.path("_slide"), script.out);
  EXPECT_TRUE(runs("zsh", "zsh -n _slide"));
}

TEST_F(ShellTest, FishCompletesCommandsAndTheirOptions) {
  const Outcome script = slide_.run({"completion", "fish"});
  ASSERT_EQ(script.code, 0) << script.err;
  for (const char* part :
       {"complete -c slide -n __fish_use_subcommand -f -a train -d 'Train a network",
        "complete -c slide -n '__fish_seen_subcommand_from train' -l resume -r -F -d 'Go on",
        "complete -c slide -n '__fish_seen_subcommand_from test' -l inference -x -a 'full lsh' -d 'Score all",
        "-l format -x -a 'csv idx interactions jsonl libsvm npz text tsv xmc' -d ", "default: the model\\'s",
        " -l threads -x -d ",
        "complete -c slide -n '__fish_seen_subcommand_from report' -s o -l out -r -F -d "})
    EXPECT_NE(script.out.find(part), std::string::npos) << part;
  std::istringstream lines(script.out);
  std::string line;
  for (std::getline(lines, line); std::getline(lines, line);)
    EXPECT_TRUE(line.starts_with("complete -c slide -n ") && line.ends_with("'")) << line;
  write_file(slide_.path("slide.fish"), script.out);
  EXPECT_TRUE(runs("fish", "fish -n slide.fish"));
}

TEST_F(ShellTest, TheManualPageKnowsEveryOption) {
  const Outcome page = slide_.run({"man"});
  ASSERT_EQ(page.code, 0) << page.err;
  for (const char* section : {".TH SLIDE 1", ".SH NAME", ".SH SYNOPSIS", ".SH COMMANDS", ".SH EXIT STATUS"})
    EXPECT_NE(page.out.find(section), std::string::npos) << section;
  for (const char* part :
       {".SS slide train", "\\-\\-resume", "\\-\\-threshold", "\\-\\-labels\\-per\\-sample", "DATA"})
    EXPECT_NE(page.out.find(part), std::string::npos) << part;
  write_file(slide_.path("slide.1"), page.out);
  EXPECT_TRUE(runs("groff", "groff -man -ww -Tutf8 slide.1 > formatted 2> warnings && test ! -s warnings"))
      << read_file(slide_.path("warnings"));
}

}  // namespace
}  // namespace slide::test
