// Tests of a run into a folder with another run: which files stay or are removed, and the state after a kill.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    generate();
  }
  std::vector<std::string> arguments(const std::string& out, const std::string& seed) const {
    return {"train",  "small.toml",
            "--set",  "data.train=data/train.txt",
            "--set",  "train.save_optimizer=false",
            "--seed", seed,
            "--out",  out,
            "--force"};
  }
};

TEST_F(RunFolderTest, AFinishedRunIsKeptAndItIsSaid) {
  const Outcome first = expect_done(slide_.run(arguments("out", "1")));
  EXPECT_FALSE(contains(first.out, "kept"));
  const std::string config = file("out/config.toml"), log = file("out/metrics.jsonl");
  const std::string model = file("out/model.slide"), environment = file("out/environment.json");
  write_file(slide_.path("out/notes.txt"), "mine");
  const Outcome second = expect_done(slide_.run(arguments("out", "2")));
  EXPECT_TRUE(contains(second.out, "the finished run that was here is kept in out/previous\n"));
  EXPECT_EQ(file("out/previous/config.toml"), config);
  EXPECT_EQ(file("out/previous/metrics.jsonl"), log);
  EXPECT_EQ(file("out/previous/environment.json"), environment);
  EXPECT_TRUE(file("out/previous/model.slide") == model);
  EXPECT_FALSE(file("out/model.slide") == model);
  EXPECT_EQ(file("out/notes.txt"), "mine");
  // An unfinished run is not kept, and does not replace the kept one.
  write_file(slide_.path("out/environment.json"), "{\"finished\": false}");
  EXPECT_FALSE(contains(slide_.run(arguments("out", "3")).out, "kept"));
  EXPECT_TRUE(file("out/previous/model.slide") == model);
  const std::string third = file("out/model.slide");
  ASSERT_EQ(slide_.run(arguments("out", "1")).code, 0);
  EXPECT_TRUE(file("out/previous/model.slide") == third);
}

TEST_F(RunFolderTest, EventsForTensorBoardBelongToTheirRun) {
  const std::string events = "out/events.out.tfevents.slide";
  std::vector<std::string> told = arguments("out", "1");
  told.insert(told.end(), {"--set", "train.tensorboard=true"});
  ASSERT_EQ(slide_.run(told).code, 0);
  const std::string first = file(events);
  EXPECT_TRUE(contains(first, "brain.Event:2"));
  EXPECT_TRUE(contains(first, "train/loss"));
  ASSERT_EQ(slide_.run(arguments("out", "2")).code, 0);  // without
  EXPECT_FALSE(fs::exists(slide_.path(events)));
  EXPECT_TRUE(file("out/previous/events.out.tfevents.slide") == first);
}

// A run that cannot be kept is not removed.
TEST_F(RunFolderTest, WhereItCannotBeKeptNothingIsTrained) {
  ASSERT_EQ(slide_.run(arguments("out", "1")).code, 0);
  const std::string model = file("out/model.slide");
  write_file(slide_.path("out/previous"), "a file");
  expect_refused(slide_.run(arguments("out", "2")), "out/previous: cannot be created", 1);
  EXPECT_TRUE(file("out/model.slide") == model);
  EXPECT_TRUE(contains(slide_.run({"train", "--resume", "out"}).out, "is complete"));
}

// Nor a run whose state is unreadable.
TEST_F(RunFolderTest, WhereItCannotBeReadNothingIsTrained) {
  ASSERT_EQ(slide_.run(arguments("out", "1")).code, 0);
  const std::string model = file("out/model.slide");
  const std::string environment = slide_.path("out/environment.json");
  fs::remove(environment);
  fs::create_symlink(environment, environment);
  expect_refused(slide_.run(arguments("out", "2")), "out/environment.json: cannot be read", 1);
  EXPECT_TRUE(file("out/model.slide") == model);
}

// A finished run needs its model.
TEST_F(RunFolderTest, AFinishedRunWithoutItsModelIsNotCalledComplete) {
  ASSERT_EQ(slide_.run(arguments("out", "1")).code, 0);
  const std::string model = file("out/model.slide");
  std::string flipped = model;
  flipped[model.size() / 2] ^= 1;
  const auto refused = [&](const std::string& why) {
    const Outcome resumed = slide_.run({"train", "--resume", "out"});
    EXPECT_EQ(resumed.code, 2) << resumed.out;
    EXPECT_TRUE(resumed.err.starts_with("slide: out: the run is finished, but its model cannot be used"))
        << resumed.err;
    EXPECT_TRUE(contains(resumed.err, why));
    EXPECT_TRUE(resumed.err.ends_with("train anew with --force\n")) << resumed.err;
    EXPECT_EQ(std::count(resumed.err.begin(), resumed.err.end(), '\n'), 1) << resumed.err;
  };
  for (const auto& [bytes, why] :
       {std::pair(model.substr(0, model.size() / 2), "cut off"), std::pair(std::string(), "no slide model"),
        std::pair(flipped, "checksum")}) {
    write_file(slide_.path("out/model.slide"), bytes);
    refused(why);
  }
  fs::remove(slide_.path("out/model.slide"));
  refused("no such model");
  write_file(slide_.path("out/model.slide"), model);
  EXPECT_TRUE(contains(slide_.run({"train", "--resume", "out"}).out, "is complete"));
  write_file(slide_.path("out/model.slide"), "");
  EXPECT_EQ(slide_.run(arguments("out", "1")).code, 0);
  EXPECT_TRUE(file("out/model.slide") == model);
}

// For a kill before each single change: the folder never shows one run's model as the other's, and the
// finished model is complete.
TEST_F(RunFolderTest, KilledAtEveryStepItTellsTheTruth) {
  const std::vector<std::string> best = {"--set", "data.validation=0.2"};
  const auto with_best = [&](std::vector<std::string> all) {
    all.insert(all.end(), best.begin(), best.end());
    return all;
  };
  for (const std::string seed : {"2", "1"}) {  // another configuration, then the same again
    fs::remove_all(slide_.path("first"));
    ASSERT_EQ(slide_.run(with_best(arguments("first", "1"))).code, 0);
    ASSERT_EQ(slide_.run(with_best(arguments("second", seed))).code, 0);
    const std::string old_model = file("first/model.slide"), old_config = file("first/config.toml");
    const std::string new_model = file("second/model.slide"), new_config = file("second/config.toml");
    ASSERT_EQ(old_model == new_model, seed == "1");
    int change = 1;
    for (bool killed = true; killed; ++change) {
      fs::remove_all(slide_.path("out"));
      fs::copy(slide_.path("first"), slide_.path("out"));
      const Outcome cut = killed_at(change, with_best(arguments("out", seed)));
      killed = cut.code == 128 + SIGKILL;
      ASSERT_TRUE(killed || cut.code == 0) << change << cut.err;
      ASSERT_TRUE(file("out/model.slide") == old_model || file("out/previous/model.slide") == old_model)
          << change;
      if (exists("out/previous/environment.json")) {
        EXPECT_TRUE(file("out/previous/model.slide") == old_model) << change;
        EXPECT_EQ(file("out/previous/config.toml"), old_config) << change;
      }
      const std::string config = file("out/config.toml"), model = file("out/model.slide");
      if (!config.empty() && !model.empty()) {
        EXPECT_EQ(config == old_config, model == old_model) << change;
      }
      if (!exists("out/config.toml")) {
        EXPECT_EQ(slide_.run({"train", "--resume", "out"}).code, 2) << change;
        continue;
      }
      const Outcome resumed = slide_.run({"train", "--resume", "out"});
      EXPECT_EQ(resumed.code, 0) << change << resumed.err;
      EXPECT_TRUE(file("out/model.slide") == (config == old_config ? old_model : new_model)) << change;
      EXPECT_EQ(file("out/config.toml"), config) << change;
      EXPECT_TRUE(exists("out/best-model.slide"));
    }
    EXPECT_GT(change, 15);  // the library is loaded and counts
  }
}

}  // namespace
}  // namespace slide::test
