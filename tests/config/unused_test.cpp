// Tests of unused_keys(), told by notes_on_keys(): which keys have no effect beside which others.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "tests/expect.h"
#include "tests/files.h"

namespace slide {
namespace {

using Sentences = std::vector<std::string>;

Sentences unused(const std::vector<std::string>& overrides, const std::string& file = "") {
  return notes_on_keys({file, "run.toml"}, overrides, parse_config(file, "run.toml", overrides));
}

TEST(UnusedKeys, AreInNoConfigurationOfTheProject) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SLIDE_CONFIGS)) {
    if (entry.path().extension() != ".toml") continue;
    ++files;
    EXPECT_EQ(unused({}, read_file(entry.path().string())), Sentences()) << entry.path();
  }
  EXPECT_GE(files, 5u);
  EXPECT_EQ(unused({}), Sentences());
  EXPECT_EQ(unused({"data.kind=interactions"}), Sentences());
  EXPECT_EQ(unused({"layer.-1.kind=dense"}), Sentences());
}

TEST(UnusedKeys, OfAnotherOptimizerOrLoss) {
  EXPECT_EQ(unused({"optimizer.momentum=0.5", "optimizer.beta1=0.8", "optimizer.epsilon=0.01"}),
            (Sentences{"optimizer.momentum has no effect in training where optimizer.kind = \"adagrad\"",
                       "optimizer.beta1 has no effect in training where optimizer.kind = \"adagrad\""}));
  EXPECT_EQ(unused({"optimizer.kind=sgd", "optimizer.epsilon=0.01"}),
            Sentences{"optimizer.epsilon has no effect in training where optimizer.kind = \"sgd\""});
  EXPECT_EQ(unused({"optimizer.kind=adam", "optimizer.beta2=0.99", "optimizer.epsilon=0.01"}), Sentences());
  EXPECT_EQ(
      unused({"loss.kind=softmax", "loss.prior=0.1", "loss.positive_weight=2", "layer.-1.wide=false"}),
      Sentences{"loss.positive_weight, loss.prior have no effect in training where loss.kind = \"softmax\""});
  EXPECT_EQ(unused({"loss.prior=0.1", "loss.positive_weight=2"}), Sentences());
}

TEST(UnusedKeys, OfTablesThatNobodyAsks) {
  EXPECT_EQ(
      unused({"layer.-1.hash.tables=32", "layer.-1.hash.k=9"}),
      Sentences{"layer.1.hash.k, layer.1.hash.tables have no effect in training where layer.1.lsh = 0"});
  EXPECT_EQ(
      unused({"layer.-1.lsh=64", "layer.-1.hash.tables=32", "layer.-1.hash.bin_size=16"}),
      Sentences{"layer.1.hash.bin_size has no effect in training where layer.1.hash.family = \"simhash\""});
  EXPECT_EQ(unused({"layer.-1.lsh=64", "layer.-1.hash.family=dwta", "layer.-1.hash.bin_size=16"}),
            Sentences());
  EXPECT_EQ(unused({"layer.-1.lsh=64", "layer.-1.hash.candidates=threshold", "layer.-1.hash.queries=4"}),
            Sentences{"layer.1.hash.queries has no effect in training where layer.1.hash.candidates = "
                      "\"threshold\""});
  EXPECT_EQ(unused({"layer.0.lsh=64"}),
            Sentences{"layer.0.lsh has no effect in training where layer.0.kind = \"dense\""});
}

TEST(UnusedKeys, OfAFileAreNotToldWhereAnOverrideTurnsThemOff) {
  const std::string file = "[[layer]]\n[[layer]]\nkind = \"sampled\"\nlsh = 64\n[layer.hash]\ntables = 9\n";
  EXPECT_EQ(unused({}, file), Sentences());
  EXPECT_EQ(unused({"layer.-1.kind=dense"}, file), Sentences());
  EXPECT_EQ(unused({"layer.-1.kind=dense", "layer.1.hash.k=4"}, file),
            Sentences{"layer.1.hash.k has no effect in training where layer.1.kind = \"dense\""});
  EXPECT_EQ(unused({}, file + "[neighbours]\nshare = 0\npower = 2\n"),
            Sentences{"neighbours.power has no effect in training where neighbours.share = 0.0"});
}

TEST(UnusedKeys, OfPartsThatAreOff) {
  EXPECT_EQ(unused({"layer.-1.wide=false", "layer.-1.wide_rate=2"}),
            Sentences{"layer.1.wide_rate has no effect in training where layer.1.wide = false"});
  EXPECT_EQ(
      unused({"neighbours.share=0", "neighbours.count=5", "neighbours.mean=1"}),
      Sentences{"neighbours.count, neighbours.mean have no effect in training where neighbours.share = 0.0"});
  EXPECT_EQ(unused({"layer.-1.activation=tanh"}),
            Sentences{"layer.1.activation has no effect in training in the last layer"});
  EXPECT_EQ(unused({"layer.0.activation=tanh"}), Sentences());
  EXPECT_EQ(unused({"layer.-1.logq_power=0.5"}),
            Sentences{"layer.1.logq_power has no effect in training where layer.1.logq_correction = false"});
  EXPECT_EQ(unused({"train.expire_labels=3"}),
            Sentences{"train.expire_labels has no effect in training where train.init = \"\""});
}

}  // namespace
}  // namespace slide
