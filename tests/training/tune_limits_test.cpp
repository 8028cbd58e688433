// Tests of searches with limits: time, memory, and keys that a search ignores.
#include <gtest/gtest.h>

#include <new>
#include <vector>

#include "engine/base/error.h"
#include "tests/training/tune_fixture.h"

namespace slide::test {
namespace {

TEST(TuneLimits, EndsWhenTheTimeIsUp) {
  Config config = small_config();
  config.train.epochs = 1000000;
  const TuneOptions options{0.2, 1000, {}};
  EXPECT_THROW(tune(config, small_data(), options, {}), InputError);
}

// Refuses configurations larger than the start, by the plan or by a system error.
template <class Refusal>
void expect_only_quantized(Refusal&& refuse) {
  const Config config = small_config();
  TuneOptions options{600.0, 12, {}};
  options.require_memory = [&](const Config& trained, const TrainingRows& rows) {
    EXPECT_GT(rows.crossed.samples(), 0U);
    if (trained.layers[0].size > config.layers[0].size) refuse();
  };
  std::size_t large = 0;
  for (const Trial& trial : trials_from(config, options)) {
    const bool is_larger = joined(trial.changes).find("layer.0.size=") != std::string::npos;
    EXPECT_EQ(trial.too_large, is_larger) << joined(trial.changes);
    large += is_larger;
    if (!trial.too_large) continue;
    EXPECT_STREQ(trial.outcome(), "too large");
    EXPECT_FALSE(trial.is_best || trial.is_scored() || trial.diverged);
    EXPECT_EQ(trial.score, 0);
  }
  EXPECT_GT(large, 0U);
}

TEST(TuneLimits, TrialsThatMemoryWouldNotDoForAreNotTheBest) {
  expect_only_quantized([] { throw InputError("needs more"); });
  expect_only_quantized([] { throw std::bad_alloc(); });
}

TEST(TuneLimits, AStartThatMemoryWouldNotDoForIsRefused) {
  TuneOptions options{600.0, 3, {}};
  options.require_memory = [](const Config&, const TrainingRows&) { throw InputError("needs more"); };
  EXPECT_THROW(tune(small_config(), small_data(), options, {}), InputError);
}

// Trials have no early stopping: they train all epochs, and so does the result.
TEST(TuneLimits, PatienceHasNoPartInIt) {
  Config patient = small_config();
  patient.data.validation.share = 0.1;
  patient.train.epochs = 9;
  const TuneOptions options{600.0, 3, {}};
  const std::vector<Trial> trials = trials_from(patient, options);
  patient.train.patience = 1;
  EXPECT_EQ(tune(patient, small_data(), options, {}).config.train.patience, 0U);
  const std::vector<Trial> same = trials_from(patient, options);
  ASSERT_EQ(same.size(), trials.size());
  for (std::size_t i = 0; i < trials.size(); ++i) {
    EXPECT_EQ(same[i].changes, trials[i].changes);
    EXPECT_EQ(same[i].score, trials[i].score);
  }
}

// Trials share computations about the samples: each has the scores of a separate run, as far as it got.
TEST(TuneLimits, TrialsShareWhatTheyFindOutAboutTheSamples) {
  Config config = small_config();
  config.data.crosses = 4;
  config.neighbours.share = 0.25;
  config.neighbours.learn = true;
  config.optimizer.learning_rate = 0.05;
  std::size_t other_rows = 0;
  for (const Trial& trial : trials_from(config, {600.0, 14, {"neighbours.cooccurrence=0"}})) {
    if (trial.stage == TrialStage::kKnnMix) continue;
    const std::string changes = joined(trial.changes);
    other_rows += changes.find("data.") != std::string::npos;
    const Config alone = parse_config(to_toml(config), "test", trial.changes);
    std::vector<double> rungs = trials_from(alone, {600.0, 1, {}}).front().rungs;
    ASSERT_FALSE(trial.rungs.empty()) << changes;
    rungs.resize(trial.rungs.size());
    EXPECT_EQ(rungs, trial.rungs) << changes;
  }
  EXPECT_GT(other_rows, 1U);
}

}  // namespace
}  // namespace slide::test
