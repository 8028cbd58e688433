// Users by name in the library, and models that are not replaced unasked.
#include <gtest/gtest.h>
#include <slide/slide.h>

#include "tests/api/samples.h"
#include "tests/cli/program.h"

namespace slide::api {
namespace {

using test::Program;

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
  EXPECT_TRUE(contains(input_error([&] { samples.user_name(3); }), "there is no sample 3"));
  ASSERT_EQ(samples.warnings().size(), 1U);
  EXPECT_TRUE(contains(samples.warnings().front(), "1 of 3 users have no item"));
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
  EXPECT_TRUE(contains(input_error([&] { evaluate(items, alone); }), "KnownUsers::held_out()"));
}

TEST_F(ApiUsers, NeedAModelOfInteractionsAndALog) {
  const Model items = model();
  EXPECT_TRUE(
      contains(input_error([&] { KnownUsers::read(items, "none.csv"); }), "none.csv: there is no such file"));
  const Model other = train(Config({"train.epochs=1"}), test::tiny_samples().data());
  EXPECT_TRUE(contains(input_error([&] { KnownUsers::read(other); }), "not trained on interactions"));
  const Data none = test::tiny_samples().data();
  EXPECT_TRUE(contains(input_error([&] { none.user_name(0); }), "have no users"));
}

TEST(ApiKeep, SaveReplacesAModelOnlyByForce) {
  const Program files;
  const Data data = test::tiny_samples().data();
  const Model first = train(Config({"train.epochs=1"}), data),
              second = train(Config({"train.epochs=2"}), data);
  first.save(files.path("m"));
  const std::string before = read_file(files.path("m"));
  EXPECT_TRUE(contains(input_error([&] { second.save(files.path("m")); }), "a model lies there; give force"));
  EXPECT_EQ(read_file(files.path("m")), before);
  second.save(files.path("m"), true);
  EXPECT_NE(read_file(files.path("m")), before);
  test::write_file(files.path("text"), "no model");
  first.save(files.path("text"));
}

}  // namespace
}  // namespace slide::api
