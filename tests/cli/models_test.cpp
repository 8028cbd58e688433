// Tests of `slide models`: a registry of models, its log, and its state after a kill at any moment.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

namespace fs = std::filesystem;
class ModelsTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    generate();
    for (const std::string seed : {"1", "2", "3"})
      ASSERT_EQ(train({"--seed", seed, "--set", "train.save_optimizer=false"}, "run" + seed).code, 0);
  }
  Outcome models(Strings arguments) {
    arguments.insert(arguments.begin(), "models");
    return slide_.run(arguments);
  }
  void done(const Strings& arguments, const std::string& said) {
    const Outcome outcome = expect_done(models(arguments));
    EXPECT_EQ(outcome.out, said);
  }
  void refused(const Strings& arguments, const std::string& why) {
    const std::string log = file("served/models.jsonl");
    expect_refused(models(arguments), why);
    EXPECT_EQ(file("served/models.jsonl"), log);
  }
  std::string current(const std::string& folder = "served") {
    const Outcome listed = expect_done(models({"list", folder, "--json"}));
    return listed.code == 0 ? Json::parse(listed.out)["current"].get<std::string>() : "";
  }
  // Each line of the log begins where the one before ended.
  void expect_chain(const std::string& folder = "served") {
    Json at;
    for (const Json& change : events_of(file(folder + "/models.jsonl"))) {
      EXPECT_EQ(keys_of(change), (Strings{"time", "action", "from", "to"}));
      if (change["action"] == "add") continue;
      EXPECT_EQ(change["from"], at);
      at = change["to"];
    }
    EXPECT_EQ(at, current(folder));
  }
  void make_registry() {
    for (const std::string run : {"run1", "run2", "run3"}) ASSERT_EQ(models({"add", "served", run}).code, 0);
  }
};

TEST_F(ModelsTest, AFolderStandsForItsCurrentModel) {
  done({"add", "served", "run1", "--name", "v1"}, "served: v1 is current\n");
  done({"add", "served", "run2/"}, "served: added run2; the current model is v1\n");
  fs::copy_file(slide_.path("run3/model.slide"), slide_.path("third.slide"));
  done({"add", "served", "third.slide"}, "served: added third; the current model is v1\n");
  EXPECT_EQ(file("served/run2.slide"), file("run2/model.slide"));
  const auto predicted = [&](const std::string& model) {
    const Outcome outcome = expect_done(slide_.run({"predict", model, "data/test.txt"}));
    return outcome.out;
  };
  EXPECT_EQ(predicted("served"), predicted("run1"));
  done({"use", "served", "run2"}, "served: run2 is current, in place of v1\n");
  done({"use", "served", "run2.slide"}, "served: run2 is current already\n");
  EXPECT_EQ(predicted("served"), predicted("run2"));
  done({"use", "served", "third"}, "served: third is current, in place of run2\n");
  done({"rollback", "served"}, "served: run2 is current, in place of third\n");
  done({"rollback", "served"}, "served: v1 is current, in place of run2\n");
  refused({"rollback", "served"}, "served: no model was current before v1; choose one");
  EXPECT_EQ(predicted("served"), predicted("run1"));
  const Outcome listed = models({"list", "served"});
  EXPECT_TRUE(listed.out.starts_with("  run2  ")) << listed.out;
  EXPECT_TRUE(contains(listed.out, "\n* v1  "));
  expect_chain();
  const std::vector<Json> log = events_of(file("served/models.jsonl"));
  ASSERT_EQ(log.size(), 8U);
  EXPECT_EQ(log[0]["from"], fs::canonical(slide_.path("run1/model.slide")).string());
  EXPECT_EQ(log[0]["to"], "v1");
  EXPECT_EQ(log[7]["action"], "rollback");
  for (const Strings& command : {Strings{"test", "served", "data/test.txt"},
                                 {"inspect", "served"},
                                 {"convert", "served", "small.slide", "--weights", "int8"},
                                 {"train", "data/train.txt", "--init", "served", "--out", "continued"}})
    EXPECT_EQ(slide_.run(command).code, 0) << command[0];
}

TEST_F(ModelsTest, WhatIsNoModelOrHasATakenNameIsRefused) {
  refused({"list", "served"}, "served: this is no registry of models; begin one");
  refused({"add", "served", "small.toml"}, "this is no slide model");
  refused({"add", "served", "nothing"}, "there is no such model");
  refused({"add", "served", "data"}, "this folder holds no run");
  EXPECT_FALSE(exists("served"));
  make_registry();
  refused({"add", "served", "run1"}, "served: a model of the name run1 is there");
  std::string damaged = file("run2/model.slide");
  damaged[damaged.size() / 2] ^= 1;
  write_file(slide_.path("damaged.slide"), damaged);
  refused({"add", "served", "damaged.slide"}, "the model is damaged");
  EXPECT_FALSE(exists("served/damaged.slide"));
  for (const std::string name : {"../run", ".run", "a b", "a/b"})
    refused({"add", "served", "run1", "--name", name}, "is no name of a model");
  refused({"use", "served", "run9"}, "served: there is no model run9; there are: run1, run2, run3");
  refused({"use", "served", "../run1/model"}, "is no name of a model");
  refused({"use", "served"}, "give the name of the model to use");
  refused({"rollback", "served", "run1"}, "is one argument too many");
  refused({"add", "run1", "run2"}, "run1: this is the folder of a run");
  refused({"use", "run1", "model"}, "run1: this is the folder of a run");
  write_file(slide_.path("served/run2.slide"), damaged);
  refused({"use", "served", "run2"}, "the model is damaged");
  const std::string good = file("served/run1.slide");
  write_file(slide_.path("served/run1.slide"), damaged);
  refused({"use", "served", "run1"}, "the model is damaged");
  write_file(slide_.path("served/run1.slide"), good);
  expect_refused(train({}, "served"), "served: this is a registry of models");
  fs::remove(slide_.path("served/run1.slide"));
  expect_refused(slide_.run({"predict", "served", "data/test.txt"}),
                 "served: its current model run1 is gone");
  EXPECT_TRUE(contains(models({"list", "served"}).out, "* run1  is gone; choose another"));
  std::ofstream(slide_.path("served/models.jsonl"), std::ios::app) << "{}\n";
  refused({"list", "served"}, "served/models.jsonl:5: this is no line of the log");
}

TEST_F(ModelsTest, KilledAtAnyMomentASwitchHappenedWithItsLineOrNotAtAll) {
  make_registry();
  const auto switched = [&](const Strings& arguments, const std::string& from, const std::string& to) {
    for (int change = 1;; ++change) {
      const Outcome outcome = killed_at(change, arguments);
      expect_chain();
      EXPECT_TRUE(current() == from || current() == to) << current();
      if (outcome.code == 0) break;
      if (current() == to) return;
    }
  };
  switched({"models", "use", "served", "run2"}, "run1", "run2");
  switched({"models", "use", "served", "run3"}, "run2", "run3");
  switched({"models", "rollback", "served"}, "run3", "run2");
  for (int change = 1;; ++change) {
    const std::string folder = fmt::format("new{}", change);
    const Outcome outcome = killed_at(change, {"models", "add", folder, "run1", "--name", "v1"});
    if (outcome.code == 0) break;
    if (exists(folder + "/v1.slide")) {
      EXPECT_EQ(file(folder + "/v1.slide"), file("run1/model.slide"));
      if (!exists(folder + "/models.jsonl")) {
        EXPECT_EQ(models({"use", folder, "v1"}).code, 0);
      }
    } else {
      EXPECT_EQ(models({"add", folder, "run1", "--name", "v1"}).code, 0);
    }
    expect_chain(folder);
    EXPECT_EQ(current(folder), "v1");
  }
}

TEST_F(ModelsTest, ChangesByManyProcessesAreOneAfterTheOther) {
  make_registry();
  std::string script;
  for (int i = 0; i < 12; ++i)
    script += Program::command({"models", "use", slide_.path("served"), fmt::format("run{}", i % 3 + 1)}) +
              " > /dev/null &\n";
  write_file(slide_.path("all.sh"), script + "wait\n");
  ASSERT_EQ(std::system(fmt::format("bash {}", slide_.path("all.sh")).c_str()), 0);
  expect_chain();
}

}  // namespace
}  // namespace slide::test
