// Every system call of a command fails once, in turn. Short counts and interruptions have no visible effect;
// any other failure is reported in one line; previous files stay, or new files are complete; and resuming
// gives the result of an undisturbed run, bit for bit. Tests a subset of the points by default; all with
// SLIDE_FAULTS=all (scripts/faults.sh).
#include <gtest/gtest.h>
#include <signal.h>

#include <functional>
#include <map>

#include "tests/faults/faults_fixture.h"

namespace slide::test {
namespace {

// A command, its initial state, and the conditions after it.
struct Case {
  Strings arguments;
  std::function<void()> prepare;                          // restores the initial state
  std::function<void(const Outcome&)> done;               // after exit code 0
  std::function<void(bool killed)> broken = [](bool) {};  // after any other
};

class FaultsTest : public DisturbedTest {
 protected:
  Outcome with(const std::string& variables, const Strings& arguments) {
    return run_disturbed(variables, arguments, "1\n");
  }

  std::vector<Point> points_of(const Case& tried, std::size_t most) {
    tried.prepare();
    const Outcome counted = expect_done(with("FAULT_COUNT=counts", tried.arguments));
    tried.done(counted);
    return slide::test::points_of(read_file(slide_.path("counts")), most);
  }

  void try_all(const std::string& name, const Case& tried, std::size_t most) {
    const std::vector<Point> points = points_of(tried, most);
    for (const Point& point : points) {
      SCOPED_TRACE(name + " " + point.text());
      tried.prepare();
      check(tried, point, with("FAULT=" + point.text(), tried.arguments));
    }
    list_points(name, points);
  }

  void check(const Case& tried, const Point& point, const Outcome& outcome) {
    if (outcome.code == 0) return tried.done(outcome);
    EXPECT_TRUE(point.kills() ? outcome.code == 128 + SIGKILL : is_reported(point, outcome))
        << "code " << outcome.code << ", " << outcome.err;
    tried.broken(point.kills());
  }

  void remove_temporaries(const std::string& folder) const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(slide_.path(folder))) {
      if (entry.path().extension() == ".tmp") found.push_back(entry.path());
    }
    for (const fs::path& path : found) fs::remove(path);
  }

  void copy(const std::string& from, const std::string& to) {
    fs::remove_all(slide_.path(to));
    fs::copy(slide_.path(from), slide_.path(to), fs::copy_options::recursive);
  }
  static Strings training(const std::string& out, const std::string& seed) {
    return {"train",     "small.toml",
            "--set",     "data.train=data/train.txt",
            "--set",     "data.validation=0.2",
            "--set",     "train.checkpoint_every=5",
            "--seed",    seed,
            "--threads", "2",
            "--out",     out,
            "--force"};
  }
  // Runs "first" and "second", with two seeds.
  void train_two() {
    for (const auto& [out, seed] : {std::pair("first", "1"), std::pair("second", "2")}) {
      expect_done(slide_.run(training(out, seed)));
    }
  }
  // Resuming the run in "out", or restarting it, gives the model of its config.toml.
  void expect_goes_on() {
    const std::string config = file("out/config.toml");
    if (config.empty()) {
      EXPECT_EQ(slide_.run(training("out", "2")).code, 0);
    } else {
      expect_done(slide_.run({"train", "--resume", "out", "--threads", "1"}));
    }
    EXPECT_TRUE(file("out/model.slide") ==
                file(config == file("first/config.toml") ? "first/model.slide" : "second/model.slide"));
    no_temporaries("out");
  }
  void expect_old_or_new(const std::string& name, const std::string& old_file, const std::string& new_file) {
    const std::string now = file(name);
    EXPECT_TRUE(now == old_file || now == new_file) << name << " has " << now.size() << " bytes";
  }
};

TEST_F(FaultsTest, Training) {
  train_two();
  const std::string before = file("first/model.slide"), after = file("second/model.slide");
  Case training_case;
  training_case.arguments = training("out", "2");
  training_case.prepare = [&] { copy("first", "out"); };
  training_case.done = [&](const Outcome&) {
    EXPECT_TRUE(file("out/model.slide") == after);
    EXPECT_TRUE(file("out/best-model.slide") == file("second/best-model.slide"));
    no_temporaries("out");
  };
  training_case.broken = [&](bool killed) {
    if (!killed) no_temporaries("out");
    EXPECT_TRUE(file("out/model.slide") == before || file("out/previous/model.slide") == before);
    if (exists("out/model.slide")) expect_old_or_new("out/model.slide", before, after);
    expect_goes_on();
  };
  try_all("train", training_case, 4);
}

// Resumes from a checkpoint.
TEST_F(FaultsTest, GoingOn) {
  train_two();
  with("FAULT=name:9:KILL", training("stopped", "2"));
  ASSERT_TRUE(exists("stopped/checkpoint.slide")) << file("stderr");
  ASSERT_FALSE(exists("stopped/model.slide"));
  Case going_on;
  going_on.arguments = {"train", "--resume", "out", "--threads", "2"};
  going_on.prepare = [&] { copy("stopped", "out"); };
  going_on.done = [&](const Outcome&) {
    EXPECT_TRUE(file("out/model.slide") == file("second/model.slide"));
    no_temporaries("out");
  };
  going_on.broken = [&](bool killed) {
    if (!killed) no_temporaries("out");
    expect_goes_on();
  };
  try_all("resume", going_on, 3);
}

// Where the cache cannot be written, training works without it.
TEST_F(FaultsTest, Caching) {
  Strings arguments = {"train",     "small.toml",
                       "--set",     "data.train=data/train.txt",
                       "--set",     "data.cache=true",
                       "--set",     "train.epochs=1",
                       "--threads", "2",
                       "--out",     "out",
                       "--force"};
  ASSERT_EQ(slide_.run(arguments).code, 0);
  const std::string model = file("out/model.slide"), cache = file("data/train.txt.slidecache");
  for (const bool made : {false, true}) {
    Case caching;
    caching.arguments = arguments;
    caching.prepare = [&] {
      fs::remove_all(slide_.path("out"));
      remove_temporaries("data");  // of a killed run
      if (!made) fs::remove(slide_.path("data/train.txt.slidecache"));
      if (made) write_file(slide_.path("data/train.txt.slidecache"), cache);
    };
    caching.done = [&](const Outcome&) {
      EXPECT_TRUE(file("out/model.slide") == model);
      no_temporaries("data");
    };
    caching.broken = [&](bool killed) {
      if (!killed) no_temporaries("data");
      if (exists("data/train.txt.slidecache")) {
        EXPECT_TRUE(file("data/train.txt.slidecache") == cache);
      }
      EXPECT_EQ(slide_.run(arguments).code, 0);
      EXPECT_TRUE(file("out/model.slide") == model);
      EXPECT_TRUE(file("data/train.txt.slidecache") == cache);
    };
    try_all(made ? "cached" : "caching", caching, 2);
  }
}

TEST_F(FaultsTest, Converting) {
  const std::map<std::string, Strings> outputs = {{"out.libsvm", {"out.libsvm"}},
                                                  {"X.out.npz", {"X.out.npz", "Y.out.npz"}}};
  for (const auto& output : outputs) {
    const std::string& name = output.first;
    const Strings& files = output.second;
    const Strings arguments = {"convert", "data/train.txt", "work/" + name};
    fs::create_directories(slide_.path("work"));
    ASSERT_EQ(slide_.run(arguments).code, 0) << file("stderr");
    std::vector<std::string> wanted;
    for (const std::string& written : files) wanted.push_back(file("work/" + written));
    Case converting;
    converting.arguments = arguments;
    converting.prepare = [&] {
      fs::remove_all(slide_.path("work"));
      fs::create_directories(slide_.path("work"));
      for (const std::string& written : files) write_file(slide_.path("work/" + written), "old");
    };
    converting.done = [&](const Outcome&) {
      for (std::size_t i = 0; i < files.size(); ++i) EXPECT_TRUE(file("work/" + files[i]) == wanted[i]);
      no_temporaries("work");
    };
    converting.broken = [&](bool killed) {
      if (!killed) no_temporaries("work");
      for (std::size_t i = 0; i < files.size(); ++i) expect_old_or_new("work/" + files[i], "old", wanted[i]);
    };
    try_all("convert to " + name, converting, 2);
  }
}

TEST_F(FaultsTest, Predicting) {
  ASSERT_EQ(slide_.run(training("out", "1")).code, 0);
  const Strings arguments = {"predict", "out/model.slide", "data/test.txt", "--k", "3", "--threads", "2"};
  const std::string wanted = slide_.run(arguments).out, model = file("out/model.slide");
  Case predicting;
  predicting.arguments = arguments;
  predicting.prepare = [] {};
  predicting.done = [&](const Outcome& outcome) { EXPECT_TRUE(outcome.out == wanted) << outcome.out; };
  try_all("predict", predicting, 3);
  EXPECT_TRUE(file("out/model.slide") == model);
}

}  // namespace
}  // namespace slide::test
