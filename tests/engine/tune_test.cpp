// The search for a configuration.
#include "engine/tune.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "tests/engine/engine_test_util.h"

namespace slide::test {
namespace {

Config small_config() {
  return parse_config(
      "[train]\nepochs = 1\nbatch_size = 32\nblock_size = 16\n[optimizer]\nlearning_rate = 0.0001\n"
      "[[layer]]\nsize = 8\n[[layer]]\nkind = \"sampled\"\nlsh = 0\nuniform = 12\n",
      "test");
}

Dataset small_data() {
  DataSpec spec;
  spec.samples = 300;
  spec.features = 60;
  spec.labels = 40;
  return make_data(spec);
}

std::vector<Trial> trials_of(const TuneOptions& options, TuneResult* result = nullptr) {
  std::vector<Trial> trials;
  TuneResult done = tune(small_config(), small_data(), options, [&](const Trial& t) { trials.push_back(t); });
  EXPECT_EQ(done.trials, trials.size());
  if (result != nullptr) *result = done;
  return trials;
}

TEST(Tune, BeginsWithTheConfigurationAndKeepsTheBest) {
  TuneResult result;
  const auto trials = trials_of({600.0, 12, {}}, &result);
  ASSERT_EQ(trials.size(), 12u);
  EXPECT_TRUE(trials[0].changes.empty());
  EXPECT_TRUE(trials[0].is_best);
  double best = -1.0;
  for (const Trial& trial : trials) {
    EXPECT_EQ(trial.is_best, trial.score > best);
    best = std::max(best, trial.score);
  }
  EXPECT_EQ(result.best.score, best);
  EXPECT_GT(best, trials[0].score);  // the configuration hardly learns
  EXPECT_EQ(result.train_samples + result.validation_samples, 300u);
  EXPECT_EQ(to_toml(result.config), to_toml(parse_config(to_toml(small_config()), "x", result.best.changes)));
}

TEST(Tune, TheSameSeedGivesTheSameTrials) {
  const auto first = trials_of({600.0, 6, {}}), second = trials_of({600.0, 6, {}});
  ASSERT_EQ(first.size(), second.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_EQ(first[i].changes, second[i].changes);
    EXPECT_EQ(first[i].score, second[i].score);
  }
}

TEST(Tune, FixedKeysKeepTheirValues) {
  const std::vector<std::string> fixed = {"train.epochs=1", "layer.-1.wide=false", "layer.1.uniform=12"};
  for (const Trial& trial : trials_of({600.0, 15, fixed})) {
    for (const std::string& change : trial.changes) {
      for (const char* key : {"train.epochs=", "layer.1.wide=", "layer.1.uniform="}) {
        EXPECT_NE(change.rfind(key, 0), 0u) << change;
      }
    }
  }
}

TEST(Tune, EndsWhenTheTimeIsUp) {
  Config config = small_config();
  config.train.epochs = 1000000;
  const TuneOptions options{0.2, 1000, {}};
  EXPECT_THROW(tune(config, small_data(), options, {}), InputError);
}

}  // namespace
}  // namespace slide::test
