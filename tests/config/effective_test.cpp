#include "engine/config/effective.h"

#include <gtest/gtest.h>

#include "engine/config/config.h"
#include "tests/expect.h"

namespace slide {
namespace {

TEST(EffectiveConfig, OfOneProcessAndSparseDataIsTheStatedOne) {
  EXPECT_EQ(to_toml(effective_config(Config(), {})), to_toml(Config()));
}

TEST(EffectiveConfig, HasAShardForEachProcessWhereNoneAreStated) {
  std::vector<std::string> notes;
  EXPECT_EQ(effective_config(Config(), {.processes = 3}, &notes).train.shards, 3U);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(contains(notes.front(), "train.shards = 3"));
  Config stated;
  stated.train.shards = 6;
  EXPECT_EQ(effective_config(stated, {.processes = 3}, &notes).train.shards, 6U);
  EXPECT_EQ(notes.size(), 1U);
}

TEST(EffectiveConfig, OfDenseColumnsAloneHasNothingForSparseFeatures) {
  Config stated;
  stated.data.idf_power = 0.5;
  const Config made = effective_config(stated, {.dense_only = true});
  EXPECT_FALSE(made.layers.back().wide);
  EXPECT_EQ(made.data.idf_power, 0.0);
  EXPECT_EQ(made.data.crosses, 0U);
  EXPECT_TRUE(stated.layers.back().wide);
}

TEST(EffectiveConfig, SaysWhichKeysDenseColumnsLeaveWithoutEffect) {
  Config stated;
  stated.data.idf_power = 0.5;
  stated.data.crosses = 50;
  stated.layers.back().wide_margin = 1.0;
  std::vector<std::string> notes;
  const Config made = effective_config(stated, {.dense_only = true}, &notes);
  EXPECT_EQ(notes,
            std::vector<std::string>{
                "data.idf_power, data.crosses, layer.1.wide_margin have no effect: all features are dense"});
  validate(made);  // as it is when it is read from a model file
  notes.clear();
  effective_config(Config(), {.dense_only = true}, &notes);
  EXPECT_TRUE(notes.empty());
}

TEST(EffectiveConfig, ANeuronWithoutALabelHasNoName) {
  Config stated;
  stated.layers.back().size = 8;
  EXPECT_EQ(input_error([&] { effective_config(stated, {.labels = 2, .named_labels = true}); }),
            "layer.1.size = 8, but the training data have 2 labels, and others have no name; set it to 0");
  std::vector<std::string> notes;
  effective_config(stated, {.labels = 2}, &notes);
  effective_config(stated, {.labels = 2}, &notes);  // told once
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_TRUE(contains(notes.front(), "layer.1.size = 8, but the training data have 2 labels"));
  effective_config(stated, {.labels = 8, .named_labels = true}, &notes);
  EXPECT_EQ(notes.size(), 1U);
}

TEST(EffectiveConfig, MadeAgainIsTheSame) {
  const JobFacts facts{4, true};
  const Config once = effective_config(Config(), facts);
  EXPECT_EQ(to_toml(effective_config(once, facts)), to_toml(once));
}

}  // namespace
}  // namespace slide
