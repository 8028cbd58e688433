// Measures of recommendations: test, train --test and evaluate give the same, items that training lacks
// included; logs whose users have one item each.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>

#include "tests/cli/cli_fixture.h"

namespace slide::test {
namespace {

class LogMeasuresTest : public CliTest {
 protected:
  void write(const std::string& name, const std::string& text) const { write_file(slide_.path(name), text); }
  Outcome train(const Strings& more = {}) const {
    return slide_.run(Strings{"train", "train.csv", "--set", "data.kind=interactions", "--epochs", "2",
                              "--out", "run", "--force"} +
                      more);
  }
  static Json json(const Outcome& done) {
    EXPECT_EQ(done.code, 0) << done.err;
    return done.code == 0 ? Json::parse(done.out) : Json();
  }
  static std::size_t lines_of(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
  }

  // Ratings of 40 users; the test has known items, others, and some that training lacks.
  void write_ratings() const {
    std::string train = "user,item,rating\n", test = train;
    for (int user = 0; user < 40; ++user) {
      for (int at = 0; at < 6; ++at)
        train += fmt::format("u{},i{},{}\n", user, (user % 4 * 5 + at * (1 + user % 3)) % 23, at % 5 + 1);
      test += fmt::format("u{},i{},5\nu{},i{},2\n", user, (user % 4 * 5 + 7) % 23, user, user % 23);
      if (user % 5 == 0) test += fmt::format("u{},never seen,3\n", user);
    }
    write("train.csv", train);
    write("test.csv", test + "visitor,i3,4\n");
  }
};

TEST_F(LogMeasuresTest, AreTheSameByAllCommands) {
  write_ratings();
  ASSERT_EQ(train({"--set", "data.test=test.csv"}).code, 0);
  const Json test = json(slide_.run({"test", "run", "test.csv", "--k", "1,3,5", "--json"}));
  const Json piped =
      json(slide_.run({"test", "run", "-", "--k", "1,3,5", "--json"}, read_file(slide_.path("test.csv"))));
  // Users alone: the items of the test are no input.
  std::string users;
  std::set<std::string> once;
  std::istringstream rows(read_file(slide_.path("test.csv")));
  for (std::string row; std::getline(rows, row);) {
    const std::string user = row.substr(0, row.find(','));
    if (user != "user" && once.insert(user).second) users = user + "\n" + users;  // in another order
  }
  const Outcome answers = expect_done(slide_.run({"predict", "run", "-", "--k", "23"}, users));
  write("scores.txt", answers.out);
  write("scores.jsonl", slide_.run({"predict", "run", "-", "--k", "23", "--json"}, users).out);
  const auto evaluate = [&](const std::string& scores) {
    return json(
        slide_.run({"evaluate", scores, "test.csv", "--train", "train.csv", "--k", "1,3,5", "--json"}));
  };
  ASSERT_EQ(slide_.run({"predict", "run", "-", "--k", "23", "--out", "scores.npz"}, users).code, 0);
  const Json lines = evaluate("scores.txt"), objects = evaluate("scores.jsonl"),
             matrix = evaluate("scores.npz");
  const Json logged = events_of(read_file(slide_.path("run/metrics.jsonl"))).back();
  for (const char* name : {"p_at_1", "p_at_3", "p_at_5", "ndcg_at_3", "recall_at_5", "psp_at_1", "psp_at_5",
                           "hit_rate_at_3", "mrr_at_5", "catalogue_at_5", "novelty_at_5"}) {
    ASSERT_TRUE(test.contains(name)) << name << test;
    EXPECT_NEAR(test[name], piped[name], 1e-9) << name;
    EXPECT_NEAR(test[name], lines[name], 1e-9) << name << lines;
    EXPECT_NEAR(test[name], objects[name], 1e-9) << name;
    EXPECT_NEAR(test[name], matrix[name], 1e-9) << name;
    if (!logged.contains(name)) continue;
    EXPECT_NEAR(test[name], logged[name], 1e-9) << name;
  }
  EXPECT_GT(double(test["p_at_1"]), 0.0);
  EXPECT_EQ(test["samples"], 41);
  EXPECT_EQ(lines["samples"], 41);
  EXPECT_EQ(test["unknown_labels"], 8);
  EXPECT_EQ(lines["unknown_labels"], 8);
  EXPECT_EQ(matrix["unknown_labels"], 8);
}

// Recommendations leave out all that the log has, and so what training held out of it.
TEST_F(LogMeasuresTest, ALogThatUsersHaveIsNoTruth) {
  write_ratings();
  ASSERT_EQ(train({"--set", "data.test_newest=2", "data.time=order"}).code, 0);
  write("later.csv", "user,item\nu1,i22\nu2,i21\n");
  for (const std::string file : {"top.npz", "top.jsonl"}) {
    ASSERT_EQ(slide_.run({"recommend", "run", "--k", "5", "--out", file}).code, 0);
    for (const Strings& known : {Strings{"--model", "run"}, Strings{"--train", "./train.csv"}}) {
      Strings arguments = {"evaluate", file, "train.csv"};
      arguments.insert(arguments.end(), known.begin(), known.end());
      const Outcome done = slide_.run(arguments);
      EXPECT_EQ(done.code, 2) << done.out;
      EXPECT_EQ(lines_of(done.err), 1U) << done.err;
      EXPECT_TRUE(contains(done.err, "train.csv: the log is also what its users have"));
      EXPECT_TRUE(contains(done.err, "'slide test MODEL train.csv'"));
    }
    EXPECT_EQ(slide_.run({"evaluate", file, "later.csv", "--model", "run"}).code, 0);
  }
  EXPECT_EQ(json(slide_.run({"test", "run", "train.csv", "--json"}))["samples"], 40);
}

// slide predict leaves out the items of DATA, and so those that the users of DATA are measured by.
TEST_F(LogMeasuresTest, PredictionsThatLeaveOutTheTestAreWarnedOf) {
  write_ratings();
  ASSERT_EQ(train().code, 0);
  write("scores.txt", slide_.run({"predict", "run", "test.csv", "--k", "3"}).out);
  const Strings evaluate = {"evaluate", "scores.txt", "test.csv", "--train", "train.csv"};
  const Outcome done = expect_done(slide_.run(evaluate));
  EXPECT_TRUE(contains(
      done.err,
      "scores.txt: no user gets an item of test.csv, so that all measures are 0: slide "
      "predict and slide recommend leave out what users have already, in the training log or in DATA"));
  EXPECT_EQ(lines_of(done.err), 1U) << done.err;
  ASSERT_EQ(slide_.run({"recommend", "run", "--out", "seen.npz"}).code, 0);
  const Outcome seen = expect_done(slide_.run({"evaluate", "seen.npz", "train.csv"}));
  EXPECT_TRUE(contains(seen.err, "evaluate by a log of held-out items")) << seen.err;
  write("scores.txt", slide_.run({"recommend", "run", "--k", "3"}).out);
  expect_refused(slide_.run(evaluate),
                 "scores.txt:1:1: this is a table of slide recommend, a line an item; write a file "
                 "to evaluate by --out FILE.npz or FILE.jsonl");
  write(
      "test.csv", "user,item\n" + [] {  // the same users as those of the log
        std::string rows;
        for (int user = 0; user < 40; ++user) rows += fmt::format("u{0},i{0}\n", user);
        return rows;
      }());
  for (const std::string out : {"best.npz", "best.jsonl"}) {
    ASSERT_EQ(slide_.run({"recommend", "run", "--k", "20", "--out", out}).code, 0);
    const Outcome best = expect_done(slide_.run({"evaluate", out, "test.csv", "--train", "train.csv"}));
    EXPECT_FALSE(contains(best.err, "no user gets"));
  }
}

TEST_F(LogMeasuresTest, UnknownItemsAreMissedAndSaidToBeItems) {
  write("train.csv", "a x\na y\nb x\nb z\nc y\nc z\n");
  write("test.csv", "a z\na never\n");
  ASSERT_EQ(train().code, 0);
  const Outcome test = slide_.run({"test", "run", "test.csv", "--k", "1", "--json"});
  EXPECT_TRUE(contains(test.err, "unknown are 1 items to predict"));
  EXPECT_NEAR(json(test)["recall_at_1"], 0.5, 1e-12);
  const Outcome predict = slide_.run({"predict", "run", "-"}, "new x\nnew never\n");
  EXPECT_TRUE(contains(predict.err, "unknown are 1 items"));
}

TEST_F(LogMeasuresTest, EvaluateRefusesWhatIsNotOfTheUsers) {
  write_ratings();
  write("test.csv", "user,item\nu1,i1\nu2,i2\n");
  const auto refusal = [&](const std::string& scores) {
    write("scores.txt", scores);
    const Outcome done = slide_.run({"evaluate", "scores.txt", "test.csv"});
    EXPECT_EQ(done.code, 2) << done.out;
    EXPECT_EQ(lines_of(done.err), 1U) << done.err;
    return done.err;
  };
  EXPECT_TRUE(contains(refusal("u1\ti1:0.5\n"), "no line for the user 'u2'"));
  EXPECT_TRUE(contains(refusal("u1\ti1:0.5\nu2\nu1\n"), ":3:1: the user 'u1' is there twice"));
  EXPECT_TRUE(contains(refusal("u1\ti1\nu2\n"), "scores.txt:1:4: 'i1' is no label:score"));
  EXPECT_TRUE(contains(refusal("{\"predictions\":[]}\nu2\n"), "no name of a user"));
  write("scores.txt", "\nu2\ti2:0.5\ti1:0.25\nu1\ti1:0.5\n");
  EXPECT_NEAR(json(slide_.run({"evaluate", "scores.txt", "test.csv", "--json"}))["p_at_1"], 1.0, 1e-12);
}

// As recommendations for all users are, where the test has some of them.
TEST_F(LogMeasuresTest, EvaluateLeavesOtherUsersOut) {
  write_ratings();
  write("test.csv", "user,item\nu1,i1\nu2,i2\n");
  write("scores.txt", "u2\ti2:0.5\nu3\ti1:0.5\nu1\ti1:0.5\nu4\n");
  const Outcome done = slide_.run({"evaluate", "scores.txt", "test.csv", "--json"});
  EXPECT_NEAR(json(done)["p_at_1"], 1.0, 1e-12);
  EXPECT_EQ(done.err,
            "slide: warning: scores.txt: users that are not in the data were left out: 2, the first of them "
            "'u3'\n");
  EXPECT_EQ(slide_.run({"evaluate", "scores.txt", "test.csv", "--strict"}).code, 2);
}

TEST_F(LogMeasuresTest, AMatrixNamesItsUsers) {
  write_ratings();
  ASSERT_EQ(train().code, 0);
  const auto refusal = [&](const Strings& more = {}) {
    const Outcome done = slide_.run(Strings{"evaluate", "scores.npz", "test.csv"} + more);
    EXPECT_EQ(done.code, 2) << done.out;
    EXPECT_EQ(lines_of(done.err), 1U) << done.err;
    return done.err;
  };
  ASSERT_EQ(slide_.run({"predict", "run", "-", "--out", "scores.npz"}, "u1\nu2\n").code, 0);
  write("test.csv", "user,item\nu2,i1\nu1,i2\n");
  EXPECT_EQ(slide_.run({"evaluate", "scores.npz", "test.csv"}).code, 0);
  write("test.csv", "user,item\nu1,i1\nu2,i2\nu3,i1\n");
  EXPECT_TRUE(contains(refusal(), "scores.npz: there is no row for the user 'u3'"));
  write("test.csv", "user,item\nu1,i1\n");
  const Outcome fewer = expect_done(slide_.run({"evaluate", "scores.npz", "test.csv"}));
  EXPECT_TRUE(contains(
      fewer.err, "scores.npz: users that are not in the data were left out: 1, the first of them 'u2'\n"));
  write("names.txt", "i1\ni2\n");
  EXPECT_TRUE(contains(refusal({"--labels", "names.txt"}), "is not among the names of labels"));
  // Of rows without names the order cannot be known, also where there are as many as users.
  write("rows.svm", " 0:1\n 1:1\n");
  ASSERT_EQ(slide_.run({"convert", "rows.svm", "X.rows.npz"}).code, 0);
  std::filesystem::rename(slide_.path("X.rows.npz"), slide_.path("scores.npz"));
  write("test.csv", "user,item\nu1,i1\nu2,i2\n");
  EXPECT_TRUE(contains(refusal({"--labels", "names.txt"}), "does not say whose rows these are"));
}

// Nothing can be hidden of such users: what most have is what is learnt, from any order of lines.
TEST_F(LogMeasuresTest, UsersOfOneItemEachTeachWhatMostHave) {
  Strings lines = {"u1,i1,5", "u2,i2,3", "u3,i1,1", "u4,i3,2", "u5,i1,4", "u6,i2,1"};
  std::string first;
  do {
    std::string log = "userId,movieId,rating\n";
    for (const std::string& line : lines) log += line + "\n";
    write("train.csv", log);
    const Outcome done = expect_done(train());
    EXPECT_EQ(lines_of(done.err), 1U) << done.err;
    EXPECT_TRUE(contains(done.err, "slide: warning: "));
    EXPECT_TRUE(contains(done.err, "no user has two items"));
    const std::string model = read_file(slide_.path("run/model.slide"));
    if (first.empty()) first = model;
    EXPECT_TRUE(model == first) << log;
    std::rotate(lines.begin(), lines.begin() + 1, lines.end());
    std::swap(lines[0], lines[3]);
  } while (lines.front() != "u1,i1,5" && lines.back() != "u1,i1,5");
  EXPECT_EQ(slide_.run({"predict", "run", "-"}, "q i1\n").out.substr(0, 5), "q\ti2:");
  EXPECT_EQ(slide_.run({"predict", "run", "-"}, "q i2\n").out.substr(0, 5), "q\ti1:");
  EXPECT_EQ(lines_of(slide_.run({"predict", "run", "-", "--k", "9", "--json"}, "q i1\n").out), 1U);
  const Outcome strict = train({"--strict"});
  EXPECT_EQ(strict.code, 2);
  EXPECT_EQ(lines_of(strict.err), 1U) << strict.err;
  expect_done(train({"--set", "data.test_newest=true", "--set", "data.time=order"}));
}

TEST_F(LogMeasuresTest, InspectTellsWhenInteractionsWere) {
  write("train.csv", "user,item,timestamp\na,x,978300000\na,y,978300060\nb,x,978386400\n");
  const Outcome told = slide_.run({"inspect", "train.csv"});
  EXPECT_TRUE(contains(told.out, "2000-12-31T22:00:00Z to 2001-01-01T22:00:00Z"));
  write("train.csv", "user,item,time\na,x,2024-05-01T00:30:00+02:00\na,y,2024-05-02\n");
  const Json look = json(slide_.run({"inspect", "train.csv", "--json"}))["data"];
  EXPECT_EQ(look["first_time"], "2024-04-30T22:30:00Z") << look;
  EXPECT_EQ(look["last_time"], "2024-05-02T00:00:00Z");
  // Seconds and thousandths would be put in a wrong order.
  write("train.csv", "user,item,timestamp\na,x,978300000\na,y,978300060000\nb,x,978386400\n");
  const Outcome mixed = slide_.run({"inspect", "train.csv"});
  EXPECT_TRUE(contains(mixed.err, "some times are seconds and others thousandths"));
}

TEST_F(LogMeasuresTest, WhatIsNoLogOfLinesIsToldApart) {
  const auto inspect = [&](const std::string& text) {
    write("train.csv", text);
    return slide_.run({"inspect", "train.csv", "--set", "data.kind=interactions"});
  };
  for (const char* text : {"{\"user\": \"a\", \"item\": \"x\"}\n{\"user\": \"a\", \"item\": \"y\"}\n",
                           "[{\"user\": \"a\", \"item\": \"x\"},\n{\"user\": \"a\", \"item\": \"y\"}]\n"}) {
    expect_refused(inspect(text), ":1:1: this is JSON; a log of interactions has lines");
  }
  for (const char* text : {"user,items\na,x|y\nb,y|z\n", "user,items\na,\"['x', 'y']\"\nb,\"['y', 'z']\"\n",
                           "user;items\na;\"x;y\"\nb;\"y;z\"\n"}) {
    const Outcome joined = inspect(text);
    EXPECT_TRUE(contains(joined.err, ":2: "));
    EXPECT_TRUE(contains(joined.err, "is read as one item"));
  }
  EXPECT_EQ(inspect("user,item\na,x\na,y|z\nb,x\nb,u\n").err, "");
  for (const char* text : {"Ann 0::tea 1\nBob 1::rice\nAnn 0::rice\n", "Ann 0::tea::5\nBob Lee::tea 1::4\n"})
    EXPECT_TRUE(contains(inspect(text).err, "parts between '::'")) << text;
  for (const char* text :
       {"a std::map std::set\nb std::map\nc x\n", "a::x\na::y\nb::x y\n", "a x\na y::z\nb x\n"})
    EXPECT_FALSE(contains(inspect(text).err, "parts between '::'")) << text;
  expect_refused(inspect("user,item\ra,x\ra,y\rb,x\r"), "its lines end in CR alone");
}

}  // namespace
}  // namespace slide::test
