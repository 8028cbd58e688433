// Tests of interaction logs on the command line: train, test, predict, known items, refusals.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

constexpr int kGroups = 5, kItems = 8, kUsers = 120;

class InteractionsTest : public CliTest {
 protected:
  // Users of a group have all of its items except every kItems-th, which is the target in the other file.
  void write_logs(const std::string& prefix = "") {
    std::string known, asked;
    for (int user = 0; user < kUsers; ++user) {
      known += fmt::format("{}{}", prefix, user);
      for (int item = 0; item < kItems; ++item) {
        const std::string name = fmt::format("{}{}", prefix, user % kGroups * kItems + item);
        if (item == user / kGroups % kItems) {
          asked += fmt::format("{}{} {}\n", prefix, user, name);
        } else {
          known += " " + name;
        }
      }
      known += "\n";
    }
    write_file(slide_.path("known.txt"), known);
    write_file(slide_.path("asked.txt"), asked);
  }
  Outcome train(std::vector<std::string> more = {}) {
    return slide_.run(Strings{"train", "known.txt", "--test", "asked.txt", "--epochs", "15", "--out", "run"} +
                      more);
  }
  Json measures(const std::vector<std::string>& more = {}) {
    const Outcome done = expect_done(slide_.run(Strings{"test", "run", "asked.txt", "--json"} + more));
    return Json::parse(done.out);
  }
};

// A model from elsewhere may name any file.
TEST_F(InteractionsTest, ALogThatAModelNamesIsLookedAtFirst) {
  write_logs();
  ASSERT_EQ(train().code, 0);
  const Outcome own = expect_done(slide_.run({"test", "run", "asked.txt"}));
  EXPECT_TRUE(contains(own.err, "known.txt, which the model names"));
  std::filesystem::create_directories(slide_.path("elsewhere"));
  std::filesystem::copy_file(slide_.path("run/model.slide"), slide_.path("elsewhere/model.slide"));
  expect_refused(slide_.run({"test", "elsewhere/model.slide", "asked.txt"}), "name it by --known");
  EXPECT_EQ(slide_.run({"test", "elsewhere/model.slide", "asked.txt", "--known", "known.txt"}).code, 0);
  const Outcome predicted = expect_done(slide_.run({"predict", "elsewhere/model.slide", "asked.txt"}));
  EXPECT_TRUE(contains(predicted.err, "users are not looked up"));
  std::filesystem::remove(slide_.path("known.txt"));
  std::filesystem::create_symlink("/dev/zero", slide_.path("known.txt"));
  expect_refused(slide_.run({"test", "run", "asked.txt"}), "no regular file");
}

TEST_F(InteractionsTest, NumbersAreGuessedAndTheMissingItemIsFound) {
  write_logs();
  expect_done(train());
  EXPECT_TRUE(contains(read_file(slide_.path("run/config.toml")), "kind = \"interactions\""));
  const Json json = measures();
  EXPECT_EQ(json["samples"], kUsers);
  EXPECT_GT(json["p_at_1"].get<double>(), 0.9);
  EXPECT_GT(json["hit_rate_at_5"].get<double>(), 0.9);
  EXPECT_GE(json["mrr_at_20"].get<double>(), json["p_at_1"].get<double>());
}

TEST_F(InteractionsTest, WhatIsKnownIsAnAnswerOnlyWhereItMayBe) {
  write_logs();
  ASSERT_EQ(train({"--set", "optimizer.learning_rate=0.03", "neighbours.share=0.25"}).code, 0);
  EXPECT_GT(measures()["p_at_1"].get<double>(), 0.9);
  EXPECT_LT(measures({"--keep-known"})["p_at_1"].get<double>(), 0.5) << "nothing known is in the way";
}

TEST_F(InteractionsTest, PredictReadsUsersAndNamesItems) {
  write_logs("i");
  ASSERT_EQ(train({"--set", "data.kind=interactions"}).code, 0);
  const Outcome done =
      expect_done(slide_.run({"predict", "run", "-", "--k", "1"}, "new i8 i9 i10 i11 i12 i13 i14\n"));
  EXPECT_EQ(done.out.substr(0, done.out.find(':')), "new\ti15");
  const Outcome known =
      slide_.run({"predict", "run", "-", "--k", "40", "--keep-known"}, "new i8 i9 i10 i11 i12 i13 i14\n");
  EXPECT_TRUE(contains(known.out, "i9:"));
}

TEST_F(InteractionsTest, TheNewestItemOfEachUserIsATest) {
  write_logs();
  expect_done(slide_.run({"train", "known.txt", "--set", "data.test_newest=true", "data.time=order",
                          "--epochs", "2", "--out", "newest"}));
  const std::vector<Json> events = events_of(read_file(slide_.path("newest/metrics.jsonl")));
  EXPECT_EQ(events.front()["test_samples"], kUsers);
  EXPECT_TRUE(events.back().contains("hit_rate_at_20") ||
              events.at(events.size() - 2).contains("hit_rate_at_20"));
}

// `slide test` of a run on its own log measures what training held out of it, as training does.
TEST_F(InteractionsTest, HeldOutItemsAreTestedAgain) {
  write_logs();
  for (const char* set : {"data.test_newest=true", "data.test_newest=0.3"}) {
    ASSERT_EQ(slide_
                  .run({"train", "known.txt", "--set", set, "data.time=order", "eval.k=[1,5]", "--epochs",
                        "2", "--out", "newest", "--force"})
                  .code,
              0);
    Json of_training;
    for (const Json& event : events_of(read_file(slide_.path("newest/metrics.jsonl")))) {
      if (event.contains("hit_rate_at_5")) of_training = event;
    }
    const Outcome done = expect_done(slide_.run({"test", "newest", "./known.txt", "--json"}));
    EXPECT_EQ(done.err,
              "slide: ./known.txt: the log of the training, measured on the items that it held out\n");
    const Json tested = Json::parse(done.out);
    for (const char* key : {"p_at_1", "hit_rate_at_5", "recall_at_5", "ndcg_at_5", "mrr_at_5"})
      EXPECT_EQ(tested[key], of_training[key]) << set << key;
    EXPECT_GT(tested["hit_rate_at_5"], 0);
    // By another log of what users have it is a log as others are.
    const Outcome given = slide_.run({"test", "newest", "known.txt", "--known", "known.txt", "--json"});
    EXPECT_EQ(Json::parse(given.out)["hit_rate_at_5"], 0) << given.err;
  }
}

TEST_F(InteractionsTest, ItemsFromADateOnAreATest) {
  write_file(slide_.path("log.csv"),
             "user,item,rating,timestamp\nann,tea,5,2024-05-01\nann,jam,4,2024-05-03\nann,rice,4,2024-06-04\n"
             "bob,tea,3,2024-05-02\nbob,jam,4,2024-06-04\nbob,rice,2,2024-05-01\ncid,jam,2,2024-05-01\n"
             "cid,tea,2,2024-05-01\n");
  const auto trained = [&](const std::string& set) {
    return slide_.run({"train", "log.csv", "--set", "data.kind=interactions", set, "--epochs", "1", "--out",
                       "dated", "--force"});
  };
  const auto tested = [&](const std::string& set) {
    expect_done(trained(set));
    return events_of(read_file(slide_.path("dated/metrics.jsonl"))).front()["test_samples"];
  };
  EXPECT_EQ(tested("data.test_after=2024-06-01"), 2);
  EXPECT_EQ(tested("data.test_newest=2"), 2);
  EXPECT_EQ(tested("data.test_newest=0.5"), 3);
  for (const auto& [set, message] :
       {std::pair("data.test_after=2025-01-01", "has nothing from that time on"),
        {"data.test_after=2020-01-01", "has nothing before that time"},
        {"data.test_after=June", "data.test_after = June is no time"},
        {"data.test_newest=1.5", "a number of items, or a share of them below 1"}}) {
    expect_refused(trained(set), message);
  }
}

// A date is a time in seconds, and counts in the unit of the log.
TEST_F(InteractionsTest, ATestAfterADateIsTheSameInEveryUnitOfTime) {
  for (const char* unit : {"", "000", "000000", "000000000"}) {
    std::string log = "user,item,timestamp\n";
    for (int user = 0; user < 20; ++user) {
      for (int item = 0; item < 6; ++item)
        log += fmt::format("u{},i{},{}{}\n", user, (user + item) % 9, 1709251200 + 4000000 * item, unit);
    }
    write_file(slide_.path("units.csv"), log);
    const Outcome done = slide_.run({"train", "units.csv", "--set", "data.test_after=2024-06-01", "--epochs",
                                     "1", "--out", "units", "--force"});
    ASSERT_EQ(done.code, 0) << unit << done.err;
    EXPECT_EQ(events_of(read_file(slide_.path("units/metrics.jsonl"))).front()["test_samples"], 20) << unit;
  }
}

TEST_F(InteractionsTest, TheNewestItemNeedsATime) {
  write_logs();
  expect_refused(slide_.run({"train", "known.txt", "--set", "data.test_newest=true", "--epochs", "1", "--out",
                             "newest"}),
                 "known.txt has no times; name their column by data.time, or say data.time=order");
}

// The first log has the users of two groups; later logs add users of other groups with new items.
TEST_F(InteractionsTest, MoreUsersAndItemsAreLearntBehindThoseOfAModel) {
  for (const char* ridge : {"layer.-1.wide_ridge=300", "layer.-1.wide_ridge=0"}) {
    write_logs("i");
    std::istringstream lines(read_file(slide_.path("known.txt")));
    std::string first, second, line;
    for (int user = 0; std::getline(lines, line); ++user)
      (user % kGroups < 2 ? first : second) += line + "\n";
    write_file(slide_.path("first.txt"), first);
    write_file(slide_.path("second.txt"), second);
    ASSERT_EQ(slide_
                  .run({"train", "first.txt", "--set", "data.kind=interactions", ridge, "--epochs", "15",
                        "--force", "--out", "first"})
                  .code,
              0);
    const Outcome more = expect_done(
        slide_.run({"train", "--init", "first", "second.txt", "--epochs", "15", "--force", "--out", "run"}));
    EXPECT_TRUE(contains(more.out, "24 features and 24 labels are new"));
    EXPECT_GT(measures({"--known", "known.txt"})["p_at_1"].get<double>(), 0.9) << ridge;  // old and new users
    const Outcome same = expect_done(slide_.run({"train", "--init", "first", "second.txt", "--epochs", "15",
                                                 "--threads", "3", "--out", "same", "--force"}));
    EXPECT_TRUE(read_file(slide_.path("same/model.slide")) == read_file(slide_.path("run/model.slide")));
  }
}

TEST_F(InteractionsTest, AWeightThatIsNamedLeavesALogALog) {
  std::string log = "user_id,movie_id,rating,timestamp\n";
  for (int i = 0; i < 200; ++i)
    log += fmt::format("u{},m{},{},{}\n", i % 20, i % 7, 1 + i % 5, 978300760 + i);
  write_file(slide_.path("log.csv"), log);
  for (const char* weight : {"data.weight=rating", "data.weight=none"}) {
    const Outcome named = expect_done(
        slide_.run({"train", "log.csv", "--set", weight, "--force", "--epochs", "1", "--out", "log"}));
    EXPECT_TRUE(contains(named.out, "items  7 are features and labels"));
  }
  write_file(slide_.path("samples.txt"), "2 5 3\n0 1:1\n2 3:1\n");
  const Outcome none = slide_.run({"train", "samples.txt", "--set", "data.weight=w", "--out", "none"});
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.err, "data.weight = w names a column"));
  expect_refused(
      slide_.run({"train", "samples.txt", "--set", "data.kind=samples", "data.weight=w", "--out", "none"}),
      "needs a table");
}

TEST_F(InteractionsTest, WhatDoesNotFitIsRefused) {
  write_logs();
  ASSERT_EQ(train().code, 0);
  write_file(slide_.path("broken.txt"), "1 2 x\n1 3 4\n");
  expect_refused(slide_.run({"test", "run", "broken.txt", "--known", "known.txt"}),
                 "broken.txt:1:5: 'x' is no weight");
  expect_refused(slide_.run({"test", "run", "asked.txt", "--known", "nowhere.txt"}),
                 "nowhere.txt: there is no such file");
  expect_refused(slide_.run({"train", "--init", "run", "known.txt", "--forget", "1", "--out", "more"}),
                 "train.expire_labels");
  const Outcome samples = slide_.run(
      {"train", "known.txt", "--set", "data.kind=samples", "data.known=known.txt", "--out", "other"});
  EXPECT_EQ(samples.code, 2);
  EXPECT_TRUE(contains(samples.err, "'data.known'"));
  write_file(slide_.path("samples.txt"), "2 5 3\n0 1:1\n2 3:1\n");
  ASSERT_EQ(slide_.run({"train", "samples.txt", "--epochs", "1", "--out", "samples"}).code, 0);
  expect_refused(slide_.run({"train", "--init", "samples", "known.txt", "--out", "more"}),
                 "a log of interactions");
  for (const char* kind : {"data.kind=samples", "data.kind=auto"}) {
    const Outcome ridge =
        slide_.run({"train", "samples.txt", "--set", kind, "layer.-1.wide_ridge=10", "--out", "other"});
    EXPECT_EQ(ridge.code, 2);
    EXPECT_TRUE(contains(ridge.err, "wide_ridge"));
    EXPECT_TRUE(contains(ridge.err, "data.kind"));
  }
}

}  // namespace
}  // namespace slide::test
