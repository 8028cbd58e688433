// The commands that faults_test.cpp leaves out, with the same points: failures are told in one line, files
// are whole or not there, and what ends with exit code 0 is what an undisturbed run gives.
#include <gtest/gtest.h>
#include <signal.h>

#include <map>

#include "tests/faults/faults_fixture.h"

namespace slide::test {
namespace {

class CommandFaultsTest : public DisturbedTest {
 protected:
  // Tries `arguments`, which write the files `written` into the folder "work", empty before, and print the
  // same each time but for lines of a time or of the folder.
  void try_command(const std::string& name, const Strings& arguments, const Strings& written = {}) {
    fs::create_directories(slide_.path("work"));
    const Outcome wanted = run_anew("FAULT_COUNT=counts", arguments);
    ASSERT_EQ(wanted.code, 0) << name << ": " << wanted.err;
    std::map<std::string, std::string> files;
    for (const std::string& path : written) files[path] = file("work/" + path);
    const std::vector<Point> points = points_of(file("counts"), 1);
    for (const Point& point : points) {
      SCOPED_TRACE(name + " " + point.text());
      const Outcome outcome = run_anew("FAULT=" + point.text(), arguments);
      if (!point.kills()) no_temporaries("work");
      for (const auto& [path, content] : files) {
        if (exists("work/" + path) || outcome.code == 0) {
          EXPECT_TRUE(file("work/" + path) == content)
              << path << ": " << file("work/" + path).size() << " bytes";
        }
      }
      if (outcome.code == 0) {
        EXPECT_EQ(without_times(outcome.out), without_times(wanted.out));
      } else {
        EXPECT_TRUE(point.kills() ? outcome.code == 128 + SIGKILL : is_reported(point, outcome))
            << "code " << outcome.code << ", " << outcome.err;
      }
    }
    list_points(name, points);
  }

  void make(const Strings& arguments) { expect_done(slide_.run(arguments)); }
  void make_model(const std::string& out, const std::string& seed = "1") {
    make({"train", "small.toml", "--set", "data.train=data/train.txt", "--seed", seed, "--threads", "2",
          "--out", out});
  }

 private:
  Outcome run_anew(const std::string& variables, const Strings& arguments) {
    fs::remove_all(slide_.path("work"));
    fs::create_directories(slide_.path("work"));
    return run_disturbed(variables, arguments);
  }
  static std::string without_times(const std::string& text) {
    std::istringstream lines(text);
    std::string kept;
    for (std::string line; std::getline(lines, line);) {
      if (line.find(" s") == std::string::npos && line.find("wrote") == std::string::npos)
        kept += line + '\n';
    }
    return kept;
  }
};

TEST_F(CommandFaultsTest, ContinuedTraining) {
  make_model("old");
  make(
      {"generate", "--samples", "80", "--features", "130", "--labels", "70", "--seed", "4", "--out", "more"});
  try_command(
      "train --init",
      {"train", "--init", "old", "more/train.txt", "--epochs", "1", "--threads", "2", "--out", "work/run"},
      {"run/model.slide"});
}

TEST_F(CommandFaultsTest, Models) {
  make_model("one");
  make_model("two", "2");
  try_command("average", {"average", "one", "two", "--out", "work/both.slide"}, {"both.slide"});
  try_command("convert a model", {"convert", "one", "work/small.slide", "--weights", "int8"},
              {"small.slide"});
  try_command("vectors", {"vectors", "one", "--out", "work/labels.npy"}, {"labels.npy"});
  try_command("vectors of samples", {"vectors", "one", "data/test.txt", "--threads", "2"});
  try_command("inspect", {"inspect", "one", "--threads", "2"});
  try_command("inspect data", {"inspect", "data/train.txt", "--threads", "2"});
  try_command("test by tables", {"test", "one", "data/test.txt", "--inference", "lsh", "--threads", "2"});
}

TEST_F(CommandFaultsTest, Measures) {
  make_model("one");
  make({"predict", "one", "data/test.txt", "--out", "scores.npz", "--threads", "1"});
  try_command("evaluate", {"evaluate", "scores.npz", "data/test.txt", "--threads", "2"});
  try_command("report", {"report", "one", "--out", "work/report.html"}, {"report.html"});
}

TEST_F(CommandFaultsTest, Searches) {
  try_command("tune",
              {"tune", "small.toml", "--set", "data.train=data/train.txt", "train.epochs=1", "--trials", "2",
               "--threads", "2", "--out", "work/tuned.toml"},
              {});
}

TEST_F(CommandFaultsTest, Generating) {
  try_command("generate",
              {"generate", "--samples", "50", "--features", "20", "--labels", "10", "--out", "work/made"},
              {"made/train.txt"});
}

TEST_F(CommandFaultsTest, OtherData) {
  const Strings training = {"train", "small.toml", "--set",    "train.epochs=1", "--threads",
                            "2",     "--out",      "work/run", "--set"};
  std::string lists, json;
  for (int user = 0; user < 60; ++user) {
    for (int item = 0; item < 5; ++item)
      lists += fmt::format("{} i{}\n", user, (user * 3 + item * item) % 20);
    json +=
        fmt::format("{{\"text\":\"word{} word{}\",\"labels\":[\"l{}\"]}}\n", user % 7, user % 5, user % 4);
  }
  write_file(slide_.path("log.txt"), lists);
  try_command("items",
              {"train", "--set", "data.kind=interactions", "data.train=log.txt", "train.epochs=1",
               "--threads", "2", "--out", "work/run"},
              {"run/model.slide"});
  write_file(slide_.path("texts.jsonl"), json);
  ASSERT_EQ(std::system(("gzip -f " + slide_.path("texts.jsonl")).c_str()), 0);
  try_command("packed JSON lines",
              training + Strings{"data.train=texts.jsonl.gz", "data.text=text", "data.labels=labels"},
              {"run/model.slide"});
  make({"convert", "data/train.txt", "X.npz"});
  try_command("npz", training + Strings{"data.train=X.npz"}, {"run/model.slide"});
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (60, 8), }";
  header += std::string(117 - header.size(), ' ') + '\n';
  std::string matrix("\x93NUMPY\x01\x00", 8);
  matrix += {static_cast<char>(header.size()), '\0'};
  matrix += header;
  std::string labels;
  for (int i = 0; i < 60 * 8; ++i) {
    const float value = static_cast<float>(i * 7 % 11) / 11.0F;
    matrix.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  for (int i = 0; i < 60; ++i) labels += fmt::format("{}\n", i % 6);
  write_file(slide_.path("X.npy"), matrix);
  write_file(slide_.path("Y.txt"), labels);
  try_command("dense", training + Strings{"data.train=X.npy,Y.txt"}, {"run/model.slide"});
}

}  // namespace
}  // namespace slide::test
