// A model is not replaced unless --force says so, whatever else lies beside it; and which model of a run its
// folder stands for.
#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

namespace fs = std::filesystem;
class KeepModelsTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    train_model();
  }
  Outcome train_into(const std::string& out, const Strings& more = {}) {
    return slide_.run(Strings{"train", "small.toml", "--set", "data.train=data/train.txt", "--out", out} +
                      more);
  }
  void expect_kept(const std::string& kept, const std::string& part, const Outcome& outcome,
                   const std::string& before) {
    expect_refused(outcome, part);
    EXPECT_TRUE(file(kept) == before) << kept;
  }
};

TEST_F(KeepModelsTest, TrainingReplacesNoLoneModel) {
  for (const std::string name : {"model.slide", "best-model.slide", "start.slide"}) {
    fs::remove_all(slide_.path("keep"));
    fs::create_directories(slide_.path("keep"));
    fs::copy(slide_.path("out/model.slide"), slide_.path("keep/" + name));
    const std::string before = file("keep/" + name);
    expect_kept("keep/" + name, "keep/" + name + ": a model is here, which training would replace",
                train_into("keep"), before);
    // Nor with anything beside it.
    write_file(slide_.path("keep/config.toml"), "");
    write_file(slide_.path("keep/environment.json"), "{\"finished\": false}");
    expect_kept("keep/" + name, "a model is here", train_into("keep", {"--init", "out"}), before);
    EXPECT_EQ(train_into("keep", {"--force"}).code, 0);
    EXPECT_TRUE(exists("keep/model.slide"));
  }
  // The folder that a run gets without --out.
  fs::create_directories(slide_.path("run/train"));
  fs::copy(slide_.path("out/model.slide"), slide_.path("run/train/model.slide"));
  expect_kept("run/train/model.slide", "a model is here", slide_.run({"train", "data/train.txt"}),
              file("out/model.slide"));
}

// A run that was stopped, and has not written a model yet.
TEST_F(KeepModelsTest, ResumingReplacesNoModelOfOthers) {
  const Strings more = {"--set", "train.checkpoint_every=1", "--seed", "9"};
  ASSERT_EQ(train_into("whole", more).code, 0);
  ASSERT_EQ(train_into("stopped", more).code, 0);
  fs::remove(slide_.path("stopped/model.slide"));
  write_file(slide_.path("stopped/environment.json"), "{\"finished\": false}");
  fs::copy(slide_.path("out/model.slide"), slide_.path("stopped/model.slide"));
  const std::string before = file("out/model.slide");
  expect_kept("stopped/model.slide", "a model is here that this run did not write",
              slide_.run({"train", "--resume", "stopped"}), before);
  write_file(slide_.path("stopped/model.slide"), before.substr(0, 100));
  EXPECT_EQ(slide_.run({"train", "--resume", "stopped"}).code, 2);
  fs::remove(slide_.path("stopped/model.slide"));
  ASSERT_EQ(slide_.run({"train", "--resume", "stopped"}).code, 0);
  EXPECT_TRUE(file("stopped/model.slide") == file("whole/model.slide"));
  // Killed between its model and its end, it goes on.
  write_file(slide_.path("stopped/environment.json"), "{\"finished\": false}");
  expect_done(slide_.run({"train", "--resume", "stopped"}));
}

TEST_F(KeepModelsTest, OtherOutputsReplaceNone) {
  const std::string before = file("out/model.slide");
  const auto reset = [&] {
    for (const char* name : {"m.slide", "m.txt", "m.npz", "m.html", "X.m.npz", "gen/train.txt"}) {
      fs::create_directories(slide_.path("gen"));
      write_file(slide_.path(name), before);
    }
  };
  reset();
  write_file(slide_.path("scores.txt"), slide_.run({"predict", "out", "data/test.txt"}).out);
  const std::vector<std::pair<std::string, Strings>> commands = {
      {"m.slide", {"average", "out", "out", "--out", "m.slide"}},
      {"m.slide", {"convert", "out", "m.slide", "--drop-optimizer"}},
      {"m.txt", {"convert", "data/test.txt", "m.txt"}},
      {"X.m.npz", {"convert", "data/test.txt", "X.m.npz"}},
      {"m.npz", {"predict", "out", "data/test.txt", "--out", "m.npz"}},
      {"m.txt", {"test", "out", "data/test.txt", "--per-label", "m.txt"}},
      {"m.txt", {"evaluate", "scores.txt", "data/test.txt", "--per-label", "m.txt"}},
      {"m.slide", {"vectors", "out", "--out", "m.slide"}},
      {"m.slide", {"vectors", "out", "--out", "v.txt", "--names", "m.slide"}},
      {"m.slide", {"tune", "data/train.txt", "--trials", "1", "--out", "m.slide"}},
      {"m.html", {"report", "out", "--out", "m.html"}},
      {"m.txt", {"serve", "out", "--access-log", "m.txt"}},
      {"gen/train.txt", {"generate", "--samples", "5", "--out", "gen"}}};
  for (const auto& [kept, arguments] : commands) {
    const Outcome outcome = slide_.run(arguments);
    EXPECT_EQ(outcome.code, 2) << fmt::format("{}", fmt::join(arguments, " "));
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_TRUE(file(kept) == before) << kept << ": " << outcome.err;
  }
  // Through a link, too.
  fs::create_symlink("m.slide", slide_.folder() / "link");
  expect_kept("m.slide", "names a model that is there", slide_.run({"vectors", "out", "--out", "link"}),
              before);
  EXPECT_EQ(slide_.run({"average", "out", "out", "--out", "m.slide", "--force"}).code, 0);
  EXPECT_FALSE(file("m.slide") == before);
  EXPECT_EQ(slide_.run({"convert", "out", "m.slide", "--drop-optimizer", "--force"}).code, 0);
  EXPECT_EQ(slide_.run({"convert", "data/test.txt", "m.txt", "--force"}).code, 0);
  EXPECT_EQ(file("m.txt").find("70 120 60\n"), 0U);
  // What is no model is replaced.
  EXPECT_EQ(slide_.run({"convert", "data/test.txt", "m.txt"}).code, 0);
}

// ---- the model of a run with validation ----

TEST_F(KeepModelsTest, AFolderStandsForItsBestModel) {
  ASSERT_EQ(train_into("v", {"--set", "data.validation=0.2"}).code, 0);
  // As if the last one was another.
  fs::copy(slide_.path("out/model.slide"), slide_.path("v/model.slide"),
           fs::copy_options::overwrite_existing);
  const auto printed = [&](Strings arguments) {
    const Outcome done = expect_done(slide_.run(arguments));
    return done.out;
  };
  const auto of = [&](const std::string& model) {
    return printed({"predict", model, "data/test.txt"}) + printed({"vectors", model}) +
           printed({"inspect", model, "--label", "3"});
  };
  EXPECT_EQ(of("v"), of("v/best-model.slide"));
  EXPECT_NE(of("v"), of("v/model.slide"));
  EXPECT_EQ(of("v/model.slide"), of("out")) << "a file stands for itself";
  ASSERT_EQ(slide_.run({"convert", "v", "a.slide", "--drop-optimizer"}).code, 0);
  ASSERT_EQ(slide_.run({"convert", "v/best-model.slide", "b.slide", "--drop-optimizer"}).code, 0);
  EXPECT_TRUE(file("a.slide") == file("b.slide"));
  ASSERT_EQ(train_into("f", {"--init", "v", "--epochs", "1"}).code, 0);
  ASSERT_EQ(train_into("g", {"--init", "v/best-model.slide", "--epochs", "1"}).code, 0);
  EXPECT_EQ(of("f"), of("g"));
  // Without validation there is but one.
  EXPECT_FALSE(exists("out/best-model.slide"));
}

TEST_F(KeepModelsTest, ARunThatHasNotEndedHasNoModelYet) {
  ASSERT_EQ(train_into("v", {"--set", "data.validation=0.2"}).code, 0);
  fs::remove(slide_.path("v/model.slide"));
  expect_refused(slide_.run({"test", "v", "data/test.txt"}), "has no model yet");
}

}  // namespace
}  // namespace slide::test
