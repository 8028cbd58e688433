// The race of trials on a part of a large set.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "datasets/label_texts.h"
#include "datasets/split.h"
#include "engine/base/error.h"
#include "tests/training/tune_fixture.h"

namespace slide::test {
namespace {

TEST(TuneRace, ALargeSetIsRacedOnAPartOfIt) {
  DataSpec spec;
  spec.samples = 60000;  // of which 9,000 are for validation
  spec.features = 40;
  spec.labels = 20;
  Config config = small_config();
  config.layers.front().size = 2;
  std::vector<Trial> trials;
  const TuneResult result =
      tune(config, make_data(spec), {600.0, 8, {}}, [&](const Trial& trial) { trials.push_back(trial); });
  EXPECT_EQ(result.folds, 1u);
  EXPECT_EQ(result.validation_samples, 9000u);
  EXPECT_EQ(trials[0].rungs.size(), 2u) << "a part, and all";
  EXPECT_EQ(trials[0].rungs[1], trials[0].score);
  for (const Trial& trial : trials) EXPECT_EQ(trial.dropped, trial.rungs.size() == 1) << trial.number;
}

}  // namespace
}  // namespace slide::test
