// Users by name in the library, and models that are not replaced unasked.
#include <gtest/gtest.h>
#include <slide/slide.h>

#include <cstdio>

#include "tests/api/samples.h"
#include "tests/cli/program.h"
#include "tests/datasets/test_files.h"

namespace slide::api {
namespace {

using test::Program;
using test::refusal;

class ApiUsers : public ::testing::Test {
 protected:
  void SetUp() override {
    test::write_file(files_.path("log.csv"),
                     "user,item,rating\nann,tea,5\nann,jam,4\nbob,tea,1\nbob,rice,2\nbob,salt,2\ncid,rice,3\n"
                     "cid,salt,1\n");
    test::write_file(files_.path("test.csv"), "user,item\ncid,tea\ncid,salt\nbob,jam\nbob,never\n");
    ASSERT_EQ(files_
                  .run({"train", "log.csv", "--set", "data.kind=interactions", "--epochs", "2", "--out",
                        "run", "--test", "test.csv"})
                  .code,
              0);
  }
  Model model() const { return Model::load(files_.path("run/model.slide")); }

  Program files_;
};

TEST_F(ApiUsers, HaveSamplesByName) {
  const Model items = model();
  const KnownUsers users = KnownUsers::read(items);
  EXPECT_EQ(users.size(), 3U);
  EXPECT_TRUE(users.has("bob"));
  EXPECT_FALSE(users.has("dora"));
  const Data samples = users.samples({"bob", "dora", "ann"});
  ASSERT_EQ(samples.samples(), 3U);
  EXPECT_EQ(samples.user_name(0), "bob");
  EXPECT_EQ(samples.user_name(1), "dora");
  EXPECT_NE(refusal([&] { samples.user_name(3); }).find("there is no sample 3"), std::string::npos);
  ASSERT_EQ(samples.warnings().size(), 1U);
  EXPECT_NE(samples.warnings().front().find("1 of 3 users have no item"), std::string::npos);
  PredictOptions options;
  options.k = 4;
  const Predictions best = Predictor(items, options).predict(samples);
  EXPECT_EQ(items.label_name(best.labels[0]), "jam");
  EXPECT_EQ(best.labels[1], kNoLabel);
  EXPECT_NE(best.labels[4 + 3], kNoLabel);  // of an unknown user nothing is left out
  EXPECT_EQ(best.labels[8 + 2], kNoLabel);
  test::write_file(files_.path("other.csv"), "user,item\ndora,tea\n");
  EXPECT_TRUE(KnownUsers::read(items, files_.path("other.csv")).has("dora"));
}

TEST_F(ApiUsers, AreMeasuredAsByTest) {
  const Model items = model();
  const std::string test = files_.path("test.csv");
  const Data data = KnownUsers::read(items).held_out(test);
  EXPECT_EQ(data.samples(), 2U);
  EXPECT_EQ(data.user_name(0), "bob");
  EXPECT_EQ(data.label_entries(), 3U);  // salt is known already
  const Measures measures = evaluate(items, data, {1, 3});
  const test::Outcome done = files_.run({"test", "run", "test.csv", "--k", "1,3", "--json"});
  ASSERT_EQ(done.code, 0) << done.err;
  for (const char* name : {"p_at_1", "recall_at_3", "ndcg_at_3"}) {
    const std::size_t at = done.out.find(std::string("\"") + name + "\":");
    ASSERT_NE(at, std::string::npos) << done.out;
    EXPECT_NEAR(measures.at(name), std::stod(done.out.substr(done.out.find(':', at) + 1)), 1e-9) << name;
  }
  // All labels would be features, too.
  const Data alone = Data::read(test, items);
  EXPECT_NE(refusal([&] { evaluate(items, alone); }).find("KnownUsers::held_out()"), std::string::npos);
}

TEST_F(ApiUsers, NeedAModelOfInteractionsAndALog) {
  const Model items = model();
  EXPECT_NE(refusal([&] { KnownUsers::read(items, "none.csv"); }).find("none.csv: there is no such file"),
            std::string::npos);
  const Model other = train(Config({"train.epochs=1"}), test::tiny_samples().data());
  EXPECT_NE(refusal([&] { KnownUsers::read(other); }).find("not trained on interactions"), std::string::npos);
  const Data none = test::tiny_samples().data();
  EXPECT_NE(refusal([&] { none.user_name(0); }).find("have no users"), std::string::npos);
}

TEST(ApiKeep, SaveReplacesAModelOnlyByForce) {
  const Program files;
  const Data data = test::tiny_samples().data();
  const Model first = train(Config({"train.epochs=1"}), data),
              second = train(Config({"train.epochs=2"}), data);
  first.save(files.path("m"));
  const std::string before = test::read_file(files.path("m"));
  EXPECT_NE(refusal([&] { second.save(files.path("m")); }).find("a model lies there; give force"),
            std::string::npos);
  EXPECT_EQ(test::read_file(files.path("m")), before);
  second.save(files.path("m"), true);
  EXPECT_NE(test::read_file(files.path("m")), before);
  test::write_file(files.path("text"), "no model");
  first.save(files.path("text"));
}

}  // namespace
}  // namespace slide::api
