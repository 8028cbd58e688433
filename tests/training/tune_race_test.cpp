// Tests of successive halving of trials on a part of a large set.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "datasets/label_features.h"
#include "datasets/rows/split.h"
#include "engine/base/error.h"
#include "tests/training/tune_fixture.h"

namespace slide::test {
namespace {

TEST(TuneRace, ALargeSetIsRacedOnAPartOfIt) {
  DataSpec spec;
  spec.samples = 60000;  // 9,000 of them for validation
  spec.features = 40;
  spec.labels = 20;
  Config config = small_config();
  config.layers.front().size = 2;
  std::vector<Trial> trials;
  const TuneResult result =
      tune(config, make_data(spec), {600.0, 8, {}}, [&](const Trial& trial) { trials.push_back(trial); });
  EXPECT_EQ(result.folds, 1u);
  EXPECT_EQ(result.validation_samples + result.decision_samples, 9000u);
  EXPECT_EQ(trials[0].rungs.size(), 2u) << "a part, and all";
  EXPECT_EQ(trials[0].rungs[1], trials[0].score);
  for (const Trial& trial : trials) EXPECT_EQ(trial.pruned, trial.rungs.size() == 1) << trial.number;
}

// 9,000 samples, a quarter for the first rung, in steps of 1,024.
std::pair<Config, TuneOptions> raced() {
  DataSpec spec;
  spec.samples = 500;
  spec.seed = 2;
  Config config = small_config();
  config.train.batch_size = 1024;
  config.neighbours.share = 0;
  TuneOptions options{600.0, 1, {}};
  options.validation = make_data(spec);
  return {config, options};
}

Dataset raced_data(std::uint32_t samples) {
  DataSpec spec;
  spec.samples = samples;
  return make_data(spec);
}

// Setup takes as long for a part as for all samples: it must not make a trial on a part too slow.
TEST(TuneRace, APartOfALargeSetDoesNotTellThatATrialIsTooSlow) {
  auto [config, options] = raced();
  options.train_seconds = 7.0;
  std::size_t calls = 0;
  std::chrono::milliseconds first{2000};
  options.go_on = [&] {
    if (calls++ == 0) std::this_thread::sleep_for(first);
    return true;
  };
  std::vector<Trial> trials;
  const auto note = [&](const Trial& trial) { trials.push_back(trial); };
  tune(config, raced_data(9000), options, note);
  ASSERT_EQ(trials.size(), 1u);
  EXPECT_TRUE(trials[0].within);
  EXPECT_EQ(trials[0].rungs.size(), 2u);
  options.train_seconds = 0.1;  // the part alone takes longer
  first = std::chrono::milliseconds{500};
  calls = 0;
  EXPECT_THROW(tune(config, raced_data(9000), options, note), InputError);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_TRUE(trials[1].stopped);
  EXPECT_FALSE(trials[1].within);
  EXPECT_TRUE(trials[1].rungs.empty());
  EXPECT_EQ(calls, 1u) << "after the first step";
}

// Label texts are not samples: they do not make a set large, and a part of a large set keeps all of them.
TEST(TuneRace, TextsOfLabelsAreNotThinned) {
  const auto [config, options] = raced();
  const auto rungs = [&, &config = config, &options = options](const Dataset& data) {
    std::vector<double> found;
    tune(config, data, options, [&](const Trial& trial) { found = trial.rungs; });
    return found;
  };
  DataSpec spec;
  spec.samples = 4002;
  spec.seed = 5;
  const auto with_texts = [&](const Dataset& data) {
    return with_label_texts(data, make_data(spec), 1.0F, 1);
  };
  EXPECT_EQ(rungs(with_texts(raced_data(4000))).size(), 1u) << "a set of 4,000 samples is none of 8,002";
  const Dataset large = with_texts(raced_data(9000));
  const std::vector<double> of_large = rungs(large);
  ASSERT_EQ(of_large.size(), 2u);
  std::vector<std::uint32_t> part(9000 / 4 + large.label_texts());
  for (std::size_t i = 0; i < part.size(); ++i)
    part[i] = static_cast<std::uint32_t>(i < 2250 ? 4 * i : 9000 + i - 2250);
  EXPECT_EQ(rungs(copy_rows(large, part)), std::vector<double>{of_large[0]});
}

}  // namespace
}  // namespace slide::test
