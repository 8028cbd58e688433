// Tests of help, reference, completion and manual page.
#include <gtest/gtest.h>

#include <algorithm>
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
    const Outcome help = expect_done(slide_.run(arguments));
    EXPECT_TRUE(contains(help.out, "Usage: slide"));
  }
  const Outcome doc = expect_done(slide_.run({"config", "--doc"}));
  EXPECT_TRUE(contains(doc.out, "`block_size`"));
}

TEST_F(ShellTest, WithoutACommandThereIsTheHelp) {
  const Outcome bare = expect_done(slide_.run({}));
  EXPECT_EQ(bare.out, slide_.run({"--help"}).out);
  EXPECT_EQ(bare.out, slide_.run({"help"}).out);
  EXPECT_TRUE(contains(bare.out, "Usage: slide [OPTIONS] COMMAND\n"));
  EXPECT_EQ(slide_.run({"--threads", "2"}).code, 2);
}

// No note of the parser, such as 'K,K,... ...', 'x 2', 'REQUIRED' or 'TEXT:{a,b}', in any help.
TEST_F(ShellTest, HelpShowsArgumentsAsTheyAreGiven) {
  const std::regex debris(
      "REQUIRED|Needs:|Excludes:| x [0-9]|\\([0-9]x\\)|:\\{|\\.\\.\\. \\.\\.\\.|UINT|FLOAT|TEXT:");
  std::istringstream lines(slide_.run({}).out);
  int commands = 0;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ") || line[2] < 'a' || line[2] > 'z' || line.starts_with("  slide ")) continue;
    const std::string name = line.substr(2, line.find(' ', 2) - 2);
    const Outcome help = slide_.run({name, "--help"});
    std::smatch found;
    EXPECT_FALSE(std::regex_search(help.out, found, debris)) << name << ": " << found.str();
    ++commands;
  }
  EXPECT_GE(commands, 18);
  EXPECT_TRUE(
      contains(slide_.run({"evaluate", "-h"}).out, "Usage: slide evaluate [OPTIONS] SCORES... DATA\n"));
  EXPECT_TRUE(contains(slide_.run({"evaluate", "-h"}).out, "--propensity A,B (with --train)"));
  EXPECT_TRUE(contains(slide_.run({"average", "-h"}).out, "--out FILE (required)"));
  const Outcome many = slide_.run({"predict", "a", "b", "c"});
  EXPECT_TRUE(contains(many.err, "it takes MODEL DATA;"));
}

TEST_F(ShellTest, ArgumentsStandBehindTwoDashes) {
  write_file(slide_.path("t.tsv"), "tea, green\tred ball\n::\tblue ball\n::\tred cat\n");
  expect_done(slide_.run({"train", "--out", "r", "--quiet", "--set", "text.min_count=1", "--", "t.tsv"}));
  const Strings expected = {"similar", "r", "--k", "1", "::", "green"};
  for (const Strings& words : {Strings{"similar", "r", "--k", "1", "--", "::", "green"},
                               {"similar", "r", "::", "--k", "1", "--", "green"},
                               {"similar", "--k", "1", "--", "r", "::", "green"}})
    EXPECT_EQ(expect_done(slide_.run(words)).out, expect_done(slide_.run(expected)).out);
  for (const Strings& words : {Strings{"similar", "r", "--k", "1", "--", "-tea"},
                               {"similar", "--k=1", "r", "--", "-tea"},
                               {"similar", "r", "--all", "--", "-tea"},
                               {"report", "r", "--", "-tea"}})
    EXPECT_FALSE(contains(slide_.run(words).err, "'--'")) << words.front();
  EXPECT_TRUE(contains(slide_.run({"similar", "r", "--k", "1", "--", "-tea"}).err, "'-tea'"));
  expect_refused(slide_.run({"test", "--frob"}), "test has no option --frob");
  expect_refused(slide_.run({"similar", "r", "green", "--", "::", "--k", "1"}),
                 "similar: '--k' stands behind '--', where there are arguments alone");
  expect_refused(slide_.run({"train", "--", "t.tsv", "--out", "q"}), "train: '--out' stands behind '--'");
  expect_refused(slide_.run({"similar", "r", "--kk", "1"}), "similar has no option --kk");
  const std::string labels = expect_done(slide_.run({"inspect", "r", "--labels"})).out;
  EXPECT_EQ(expect_done(slide_.run({"inspect", "--labels", "r"})).out, labels);
  EXPECT_EQ(expect_done(slide_.run({"inspect", "--labels", "--threads", "1", "r"})).out, labels);
}

TEST_F(ShellTest, ConfigExplainsKeys) {
  const Outcome key = expect_done(slide_.run({"config", "train.epochs"}));
  EXPECT_TRUE(key.out.starts_with("train.epochs = 7  (integer: 1..")) << key.out;
  EXPECT_TRUE(contains(slide_.run({"config", "layer.-1.uniform"}).out, "layer.uniform = "));
  for (const char* section : {"layer.-1", "layer.1", "layer.N"})
    EXPECT_EQ(slide_.run({"config", section}).out, slide_.run({"config", "layer"}).out) << section;
  EXPECT_EQ(slide_.run({"config", "layer.N.size"}).out, slide_.run({"config", "layer.size"}).out);
  EXPECT_EQ(slide_.run({"config", "layer.1.hash.k"}).out, slide_.run({"config", "layer.hash.k"}).out);
  EXPECT_EQ(slide_.run({"config", "data.pairs"}).out, slide_.run({"config", "data.crosses"}).out)
      << "a former name";
  EXPECT_TRUE(contains(slide_.run({"config", "loss"}).out, "loss.gradient_threshold = "));
  const Json all = Json::parse(slide_.run({"config", "--json"}).out);
  ASSERT_GE(all["keys"].size(), 100U);
  const Json one = Json::parse(slide_.run({"config", "train.epochs", "--json"}).out);
  EXPECT_NE(std::ranges::find(all["keys"], one["keys"].front()), all["keys"].end());
  EXPECT_EQ(one["keys"].front()["default"], "7");
  const Outcome unknown = slide_.run({"config", "train.epoch"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.err, "slide: there is no key 'train.epoch'; did you mean 'train.epochs'?\n");
  EXPECT_TRUE(contains(slide_.run({"config", "layer.0.units"}).err, "'slide config layer' explains those"));
  EXPECT_EQ(slide_.run({"config"}).code, 2);
  EXPECT_EQ(slide_.run({"config", "train", "--doc"}).code, 2);
}

TEST_F(ShellTest, VersionNamesTheCommitAndTheInstructionSet) {
  slide_.begin_with("export SLIDE_SIMD=scalar");
  const Outcome version = expect_done(slide_.run({"--version"}));
  const std::regex line("slide [0-9]+\\.[0-9]+\\.[0-9]+ \\((commit [0-9a-f]{10,}\\+?, )?scalar\\)\n");
  EXPECT_TRUE(std::regex_match(version.out, line)) << version.out;
  slide_.begin_with("export SLIDE_SIMD=sse9");
  expect_refused(slide_.run({"--version"}), "SLIDE_SIMD=sse9: no such instruction set here");
}

TEST_F(ShellTest, BashCompletesCommandsAndTheirOptions) {
  const Outcome script = expect_done(slide_.run({"completion", "bash"}));
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
  EXPECT_EQ(answer("train data.txt --set train.ep"), "train.epochs=\n");
  EXPECT_EQ(answer("train --set train.epochs = 3 data.known --epochs 3 train.ep"), "\n");
  EXPECT_EQ(answer("train --set train.epochs = 3 layer.-1.unif"), "layer.-1.uniform=\n");
  EXPECT_EQ(answer("evaluate --set data.user"), "data.user=\n");
  EXPECT_EQ(answer("evaluate --set train.ep"), "\n");
  EXPECT_EQ(answer("predict --set train.ep"), "\n");
  EXPECT_EQ(answer("config train.ep"), "train.epochs\n");
  EXPECT_EQ(answer("config layer.-1.unif"), "layer.-1.uniform\n");
  EXPECT_EQ(answer("config layer.0.si"), "layer.0.size\n");
  EXPECT_EQ(answer("config layer.unif"), "layer.uniform\n");
  EXPECT_EQ(answer("config neigh").substr(0, 28), "neighbours neighbours.share ");
  EXPECT_EQ(answer("models ''"), "add use rollback list\n");
  EXPECT_EQ(answer("models add fold"), "\n");
}

TEST_F(ShellTest, ZshCompletesCommandsAndTheirOptions) {
  const Outcome script = expect_done(slide_.run({"completion", "zsh"}));
  EXPECT_TRUE(script.out.starts_with("#compdef slide\n"));
  for (const char* part :
       {"      'inspect:Show a model, a configuration or data\\: layers, memory, labels'\n",
        "    train)\n      _arguments", "        '--resume[Go on with the stopped run", "]:DIR:_files' \\\n",
        "        '*--set[Overrides one key", "]:SECTION.KEY=VALUE:{compadd -S \"\" -a every}' \\\n",
        "]:data.KEY=VALUE:{compadd -S \"\" -a data}' \\\n",
        "  local -a every=(data.train= ", "        '1:word:(add use rollback list)' \\\n",
        "default\\: the model'\\''s]:auto|full|lsh:(auto full lsh)' \\\n",
        "        '--quiet[Print nothing but failures]' \\\n", "        '-o[File to write]:FILE:_files' \\\n"})
    EXPECT_TRUE(contains(script.out, part));
  write_file(slide_.path("_slide"), script.out);
  EXPECT_TRUE(runs("zsh", "zsh -n _slide"));
}

TEST_F(ShellTest, FishCompletesCommandsAndTheirOptions) {
  const Outcome script = expect_done(slide_.run({"completion", "fish"}));
  for (const char* part :
       {"complete -c slide -n __fish_use_subcommand -f -a train -d 'Train a network",
        "complete -c slide -n '__fish_seen_subcommand_from train' -l resume -r -F -d 'Go on",
        "complete -c slide -n '__fish_seen_subcommand_from test' -l inference -x -a 'auto full lsh' -d "
        "'Score all",
        "-l format -x -a 'csv idx interactions jsonl libsvm npz text tsv xmc' -d ", "default: the model\\'s",
        " -l threads -x -d ", "__fish_seen_subcommand_from train' -l set -x -a 'data.train= ",
        "complete -c slide -n '__fish_seen_subcommand_from models; and test (count (commandline -opc)) -eq "
        "2' -a "
        "'add use rollback list'\n",
        "complete -c slide -n '__fish_seen_subcommand_from report' -s o -l out -r -F -d "})
    EXPECT_TRUE(contains(script.out, part));
  std::istringstream lines(script.out);
  std::string line;
  for (std::getline(lines, line); std::getline(lines, line);)
    EXPECT_TRUE(line.starts_with("complete -c slide -n ") && line.ends_with("'")) << line;
  write_file(slide_.path("slide.fish"), script.out);
  EXPECT_TRUE(runs("fish", "fish -n slide.fish"));
}

TEST_F(ShellTest, TheManualPageKnowsEveryOption) {
  const Outcome page = expect_done(slide_.run({"man"}));
  for (const char* section : {".TH SLIDE 1", ".SH NAME", ".SH SYNOPSIS", ".SH COMMANDS", ".SH EXIT STATUS"})
    EXPECT_TRUE(contains(page.out, section));
  for (const char* part :
       {".SS slide train", "\\-\\-resume", "\\-\\-threshold", "\\-\\-labels\\-per\\-sample", "DATA"})
    EXPECT_TRUE(contains(page.out, part));
  write_file(slide_.path("slide.1"), page.out);
  EXPECT_TRUE(runs("groff", "groff -man -ww -Tutf8 slide.1 > formatted 2> warnings && test ! -s warnings"))
      << read_file(slide_.path("warnings"));
}

}  // namespace
}  // namespace slide::test
