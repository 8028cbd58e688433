// A run that is stopped, saved and loaded into a new trainer continues bit for bit as if it had never
// stopped.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "engine/base/byte_io.h"
#include "engine/base/error.h"
#include "engine/crosses/feature_transform.h"
#include "engine/training/trainer.h"
#include "tests/training/training_trace.h"

namespace slide::test {
namespace {

Dataset data() {
  DataSpec spec = wide_data();
  spec.unlabelled = 11;
  return make_data(spec);
}

// Buckets overflow.
Config config_of(std::vector<LayerConfig> layers) {
  Config config = full_config(std::move(layers));
  for (LayerConfig& layer : config.layers) layer.hash.bucket_capacity = 5;
  return config;
}

struct End {
  std::string network;  // weights, optimizer, tables
  std::vector<double> losses, active;
  std::vector<std::optional<double>> recalls;  // of the tables
};

// Runs to the end; stops after each step in `stops` and resumes in a new trainer with another number of
// threads.
End run(Config config, const Dataset& samples, std::vector<std::uint64_t> stops) {
  End end;
  TrainObserver observer;
  observer.step = [&](const StepReport& report) { return stops.empty() || report.step != stops.front(); };
  observer.epoch = [&](const EpochReport& report) {
    end.losses.push_back(report.loss);
    end.active.push_back(report.active_mean);
    end.recalls.push_back(report.tables ? report.tables->recall : std::nullopt);
  };
  std::string state;
  for (bool finished = false; !finished;) {
    Trainer trainer(fresh_job(config, samples));
    if (!state.empty()) {
      ByteReader in(state, "state", "");
      trainer.load(in);
      EXPECT_EQ(in.left(), 0U);
    }
    finished = trainer.run(observer);
    ByteString out;
    if (finished) {
      trainer.training().save(trainer.network(), out);
      end.network = out.bytes();
    } else {
      trainer.save(out);
      state = out.bytes();
      EXPECT_EQ(trainer.steps(), stops.front());
      stops.erase(stops.begin());
      config.train.threads = config.train.threads % 3 + 1;
    }
  }
  EXPECT_TRUE(stops.empty());
  return end;
}

void expect_same_after_stops(const Config& config) {
  const Dataset samples = data();
  const End whole = run(config, samples, {});
  ASSERT_EQ(whole.losses.size(), 3U);
  // 4 steps per epoch: within one, at its end (4), at the very end (12), and all of them.
  for (const std::vector<std::uint64_t>& stops :
       {std::vector<std::uint64_t>{1}, {3}, {4}, {5, 6, 11}, {12}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}) {
    const End parts = run(config, samples, stops);
    EXPECT_TRUE(parts.network == whole.network) << "stopped after step " << stops.front();
    EXPECT_EQ(parts.losses, whole.losses);
    EXPECT_EQ(parts.active, whole.active);
    EXPECT_EQ(parts.recalls, whole.recalls);
  }
}

TEST(Resume, DenseAndSampledWithDropout) {
  expect_same_after_stops(config_of({dense(37, Activation::kRelu, 0.2), sampled(0, 20, 12)}));
}

TEST(Resume, TablesThatForget) {
  Config config = config_of({dense(18), sampled(0, 20, 12)});
  config.layers.back().hash.bucket_policy = BucketPolicy::kReservoir;
  config.layers.back().hash.rebuild_steps = 0;
  expect_same_after_stops(config);
  config.layers.back().hash.bucket_policy = BucketPolicy::kFifo;
  config.layers.back().hash.rehash_steps = 3;
  expect_same_after_stops(config);
}

TEST(Resume, AsymmetricSimhash) {
  Config config = config_of({dense(18), sampled(0, 20, 12)});
  config.layers.back().hash.family = HashFamily::kSimhash;
  config.layers.back().hash.asymmetric = true;
  expect_same_after_stops(config);
}

TEST(Resume, LinearTermAndSampledLayers) {
  Config config = config_of({sampled(37, 12, 9, Activation::kTanh, 0.2), sampled(0, 20, 12)});
  config.layers.back().wide = true;
  expect_same_after_stops(config);
  config.loss.kind = LossKind::kSigmoid;
  config.layers.back().wide_margin = 1;
  expect_same_after_stops(config);
  config.layers.back().wide_margin = std::nullopt;
  config.neighbours.share = 0.3;
  expect_same_after_stops(config);
}

TEST(Resume, RoundedDeltas) {
  Config config = config_of({dense(18), sampled(0, 20, 12)});
  config.layers.back().wide = true;
  config.loss.gradient_threshold = 0.3;
  expect_same_after_stops(config);
}

TEST(Resume, NetworksInParts) {
  for (const LossKind loss : all_losses()) {
    Config config = config_of({dense(18, Activation::kRelu, 0.2), sampled(0, 20, 12)});
    config.train.shards = 3;
    config.loss.kind = loss;
    config.layers.back().wide = true;
    expect_same_after_stops(config);
    config.layers.erase(config.layers.begin());
    config.train.weights = Precision::kBf16;
    expect_same_after_stops(config);
  }
}

TEST(Resume, RarityOfFeatures) {
  Config config = config_of({dense(18), sampled(0, 20, 12)});
  config.data.idf_power = -0.5;
  config.layers.back().wide = true;
  expect_same_after_stops(config);
}

// A run keeps its initial factors.
TEST(Resume, FactorsOfFeaturesAreTheRunsOwn) {
  const Dataset samples = data();
  DataSpec spec;
  spec.samples = 230, spec.features = 120, spec.labels = 90, spec.entries = 8, spec.unlabelled = 11,
  spec.seed = 2;
  Config config = config_of({dense(18), sampled(0, 20, 12)});
  config.data.idf_power = 1.0;
  config.data.crosses = 0;  // of other features in each
  const Trainer first(fresh_job(config, samples));
  Trainer second(fresh_job(config, make_data(spec)));
  const auto factors = [](const Trainer& trainer) {
    const auto all = scale_of(trainer.network()).factors();
    return std::vector<float>(all.begin(), all.end());
  };
  EXPECT_NE(factors(first), factors(second));
  ByteString out;
  first.save(out);
  ByteReader in(out.bytes(), "state", "");
  second.load(in);
  EXPECT_EQ(factors(first), factors(second));
}

TEST(Resume, EveryOptimizerAndPrecision) {
  for (const OptimizerKind kind :
       {OptimizerKind::kSgd, OptimizerKind::kMomentum, OptimizerKind::kAdagrad, OptimizerKind::kAdam}) {
    Config config = config_of({dense(18), sampled(0, 20, 12)});
    config.optimizer.kind = kind;
    config.optimizer.warmup_steps = 3;
    config.train.weights = kind == OptimizerKind::kAdam ? Precision::kBf16 : Precision::kFp32;
    expect_same_after_stops(config);
  }
}

// Checkpoints of earlier versions may have steps of more samples than train.batch_size.
TEST(Resume, StepSizeOfTheRunNotOfTheConfiguration) {
  const Dataset samples = data();
  Config config = config_of({dense(18), sampled(0, 20, 12)});
  config.train.batch_size = 16;
  EXPECT_EQ(Trainer(fresh_job(config, samples)).batch_samples(), 16U);
  EXPECT_EQ(Trainer(resumed_job(config, samples, 48)).batch_samples(), 48U);
}

TEST(Resume, StateOfAnotherNetworkIsRefused) {
  const Dataset samples = data();
  ByteString out;
  Trainer(fresh_job(config_of({dense(18), sampled(0, 20, 12)}), samples)).save(out);
  const auto refused = [&](const Config& config, std::string_view bytes) {
    Trainer trainer(fresh_job(config, samples));
    ByteReader in(bytes, "state", "");
    EXPECT_THROW(trainer.load(in), InputError);
  };
  refused(config_of({dense(19), sampled(0, 20, 12)}), out.bytes());
  refused(config_of({dense(18), dense(18), sampled(0, 20, 12)}), out.bytes());
  Config parts = config_of({dense(18), sampled(0, 20, 12)});
  parts.train.shards = 3;
  refused(parts, out.bytes());
  const Config same = config_of({dense(18), sampled(0, 20, 12)});
  refused(same, std::string_view(out.bytes()).substr(0, out.bytes().size() - 1));
  // Free chunks that point outside the last table: after them are its number of random draws and the touched
  // rows.
  std::string broken = out.bytes();
  broken.replace(broken.size() - 90 - 8 - 8 - 14 * 4, 14 * 4, std::string(14 * 4, '\x01'));
  refused(same, broken);
}

TEST(Resume, ObserverSeesEveryStep) {
  const Dataset samples = data();
  const Config config = config_of({dense(18), sampled(0, 20, 12)});
  Trainer trainer(fresh_job(config, samples));
  std::vector<StepReport> steps;
  double epoch_loss = 0.0;
  TrainObserver observer;
  observer.step = [&](const StepReport& report) { return steps.push_back(report), true; };
  observer.epoch = [&](const EpochReport& report) {
    epoch_loss = report.loss;
    EXPECT_EQ(steps.back().loss, report.loss);
    EXPECT_EQ(steps.back().active_mean, report.active_mean);
  };
  EXPECT_TRUE(trainer.run(observer));
  ASSERT_EQ(steps.size(), 12U);
  EXPECT_EQ(steps[4].epoch, 2U);
  EXPECT_EQ(steps[4].step, 5U);
  EXPECT_EQ(steps[4].total_steps, 12U);
  EXPECT_EQ(steps[4].samples, 64U);
  EXPECT_GT(epoch_loss, 0.0);
}

}  // namespace
}  // namespace slide::test
