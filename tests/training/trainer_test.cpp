// Tests of the training loop: counts, skipped samples, errors, and data sets of awkward sizes.
#include "engine/training/trainer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "tests/expect.h"
#include "tests/training/training_trace.h"

namespace slide::test {
namespace {

TEST(Training, BiasesOfOneVsAllStartAtAShareOfTheLabelsLogOdds) {
  const Dataset data = make_data(wide_data());
  Config config = full_config({dense(8), sampled(0, 20, 12)});
  for (const LossKind loss : all_losses()) {
    config.loss.kind = loss;
    config.loss.prior = 0.25;
    const Trainer trainer(fresh_job(config, data));
    const DataShape& shape = trainer.shape();
    for (std::size_t i = 0; i < shape.labels; ++i) {
      const double with = shape.label_frequencies[i];
      const double odds = (with + 1.0) / (double(data.size()) - with + 1.0);
      const double start = loss == LossKind::kSigmoid ? 0.25 * std::log(odds) : 0.0;
      EXPECT_NEAR(*trainer.network().output().bias().row(i), start, 1e-6);
    }
  }
}

TEST(Training, TheLossFalls) {
  const Dataset data = make_data(wide_data());
  for (const LossKind loss : all_losses()) {
    Config config = full_config({dense(32), sampled(0, 20, 12)});
    config.loss.kind = loss;
    config.train.epochs = 12;
    const Trace trace = train(config, data);
    EXPECT_LT(trace.losses.back(), 0.7 * trace.losses.front());
  }
}

// The losses of at most `epochs` epochs.
std::vector<double> losses_of(const Config& config, const Dataset& data, std::uint32_t epochs) {
  std::vector<double> losses;
  Trainer trainer(fresh_job(config, data));
  TrainObserver observer;
  observer.step = [&](const StepReport& report) { return report.epoch <= epochs; };
  observer.epoch = [&](const EpochReport& report) { losses.push_back(report.loss); };
  trainer.run(observer);
  losses.resize(std::min<std::size_t>(losses.size(), epochs));
  return losses;
}

TEST(Training, WithPatienceTheRateFallsOverTwiceThatMany) {
  const Dataset data = make_data(wide_data());
  for (const RateSchedule schedule : {RateSchedule::kLinear, RateSchedule::kCosine}) {
    Config brief = full_config({dense(8), sampled(0, 20, 12)});
    brief.optimizer.schedule = schedule;
    brief.train.epochs = 8;
    Config patient = brief;
    patient.train.patience = 4;
    EXPECT_EQ(losses_of(patient, data, 8), losses_of(brief, data, 8));  // not over more than there are
    patient.train.epochs = 60;
    // In the eighth epoch one learning rate falls to 0, the other to the minimum.
    EXPECT_EQ(losses_of(patient, data, 7), losses_of(brief, data, 7));
    const std::vector<double> losses = losses_of(patient, data, 12);
    EXPECT_NE(losses[10], losses[11]);  // it still learns
    brief.train.epochs = TrainConfig{}.epochs;
    patient.train.patience = 1;
    const std::uint32_t common = brief.train.epochs - 1;  // no faster than a run of default length
    EXPECT_EQ(losses_of(patient, data, common), losses_of(brief, data, common));
  }
}

TEST(Training, AWideRateThatIsNotSetRisesWhereARunIsShort) {
  const Dataset data = make_data(wide_data());
  Config config = full_config({dense(8), sampled(0, 20, 12)});
  config.layers.back().wide = true;
  config.layers.back().wide_fit = 0;
  const auto losses = [&](std::uint32_t epochs, double rate) {
    config.train.epochs = epochs;
    config.layers.back().wide_rate = rate;
    return losses_of(config, data, epochs);
  };
  EXPECT_EQ(losses(1, 0), losses(1, 1.5 * std::sqrt(7.0)));
  EXPECT_EQ(losses(2, 0), losses(2, 1.5 * std::sqrt(3.5)));
  EXPECT_EQ(losses(7, 0), losses(7, 1.5));
  EXPECT_EQ(losses(9, 0), losses(9, 1.5));
  EXPECT_NE(losses(2, 0), losses(2, 1.5));
}

TEST(Training, AConstantRateStaysWithPatience) {
  const Dataset data = make_data(wide_data());
  Config config = full_config({dense(8), sampled(0, 20, 12)});
  config.optimizer.schedule = RateSchedule::kConstant;
  config.train.epochs = 20;
  const std::vector<double> losses = losses_of(config, data, 9);
  config.train.patience = 2;
  EXPECT_EQ(losses_of(config, data, 9), losses);
}

TEST(Training, Bf16LearnsAsFp32) {
  const Dataset data = make_data(wide_data());
  Config config = full_config({dense(32), sampled(0, 20, 12)});
  config.train.epochs = 12;
  const Trace wide = train(config, data);
  config.train.weights = Precision::kBf16;
  const Trace bf16 = train(config, data);
  EXPECT_NEAR(bf16.losses.back(), wide.losses.back(), 0.05 * wide.losses.back());
}

TEST(Training, SamplesWithoutLabelsAreSkippedAndCounted) {
  DataSpec spec = wide_data();
  spec.unlabelled = 4;
  const Dataset data = make_data(spec);
  const Config config = full_config({dense(8), sampled(0, 20, 12)});
  Trainer trainer(fresh_job(config, data));
  EXPECT_EQ(trainer.unlabelled(), 57u);  // of 230
  std::vector<EpochReport> reports;
  TrainObserver observer;
  observer.epoch = [&](const EpochReport& report) { reports.push_back(report); };
  trainer.run(observer);
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_EQ(reports.back().step, 9u);  // 173 labelled samples: three batches of at most 64
  EXPECT_EQ(reports.back().epoch, 3u);
}

TEST(Training, SkippedSamplesDoNotChangeTheResult) {
  DataSpec spec = wide_data();
  spec.samples = 64, spec.unlabelled = 4;
  const Dataset data = make_data(spec);
  DatasetArrays kept;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (data.labels(i).empty()) continue;
    const SparseRow row = data.features(i);
    add_sample(kept, {row.ids.begin(), row.ids.end()}, {row.values.begin(), row.values.end()},
               {data.labels(i).begin(), data.labels(i).end()});
  }
  Config config = full_config({dense(8), sampled(0, 20, 12)});
  config.train.shuffle = false;
  EXPECT_TRUE(same_bits(train(config, data), train(config, Dataset(std::move(kept), 120, 90))));
}

TEST(Training, DataWithoutAnyLabelIsAnInputError) {
  DataSpec spec;
  spec.unlabelled = 1;
  const Dataset data = make_data(spec);
  EXPECT_THROW(Trainer(fresh_job(full_config({dense(8), sampled(0, 2, 2)}), data)), InputError);
}

TEST(Training, MoreLabelsThanOutputNeuronsIsAnInputError) {
  const Dataset data = make_data({});
  EXPECT_THROW(Trainer(fresh_job(full_config({dense(8), sampled(5, 2, 2)}), data)), InputError);
}

TEST(Training, ALossThatIsNoNumberIsAnError) {
  const Dataset data = make_data(wide_data());
  Config config = full_config({dense(8, Activation::kLinear), sampled(0, 20, 12)});
  config.optimizer.kind = OptimizerKind::kSgd;
  config.optimizer.learning_rate = 1e30;
  Trainer trainer(fresh_job(config, data));
  EXPECT_TRUE(contains(run_error([&] { trainer.run({}); }), "learning_rate"));
}

TEST(Training, ABatchNeedNotBeAMultipleOfTheBlock) {
  Config config = full_config({dense(8), sampled(0, 20, 12)});
  config.train.batch_size = 40;  // blocks of 16, 16 and 8
  expect_same_on_all_threads(config);
}

// Once, more threads than blocks enlarged the steps and degraded the model.
TEST(Training, StepsDoNotGrowWithTheThreads) {
  Config config = full_config({dense(8), sampled(0, 20, 12)});
  config.train.batch_size = 32;
  config.train.block_size = 32;
  expect_same_on_all_threads(config);
  const Dataset data = make_data(wide_data());
  for (const std::uint32_t threads : {1, 3, 64}) {
    config.train.threads = threads;
    EXPECT_EQ(Trainer(fresh_job(config, data)).batch_samples(), 32u) << threads << " threads";
  }
}

// Active neurons of a sample: all of a dense output; at most labels and negative samples of a sampled one.
TEST(Training, ReportsTheActiveNeurons) {
  const Dataset data = make_data(wide_data());
  for (const bool is_dense : {true, false}) {
    Config config = full_config({dense(8), is_dense ? dense(0) : sampled(0, 10, 12)});
    TrainObserver observer;
    double active = 0.0;
    observer.epoch = [&](const EpochReport& report) { active = report.active_mean; };
    Trainer(fresh_job(config, data)).run(observer);
    if (is_dense) {
      EXPECT_DOUBLE_EQ(active, 90.0);
    } else {
      EXPECT_GT(active, 22.0);
      EXPECT_LT(active, 22.0 + 48.0);
    }
  }
}

TEST(Training, ThePhasesAddUpToTheTrainingTime) {
  const Dataset data = make_data(wide_data());
  for (const bool is_dense : {true, false}) {
    TrainObserver observer;
    EpochReport last;
    observer.epoch = [&](const EpochReport& report) {
      EXPECT_GE(report.phases.update, last.phases.update);
      last = report;
    };
    Trainer(fresh_job(full_config({dense(8), is_dense ? dense(0) : sampled(0, 10, 12)}), data)).run(observer);
    const PhaseSeconds& p = last.phases;
    for (const double part : {p.setup, p.data, p.hashing, p.forward, p.backward, p.update})
      EXPECT_GT(part, 0.0);
    EXPECT_EQ(p.rehash > 0.0, !is_dense);
    const double sum = p.setup + p.data + p.hashing + p.forward + p.backward + p.update + p.rehash;
    EXPECT_LE(sum, last.train_seconds * (1 + 1e-9));
    EXPECT_DOUBLE_EQ(last.active_fraction, last.active_mean / 90.0);
    EXPECT_EQ(last.samples, 3 * data.size());
  }
}

TEST(Training, TellsOfTheTablesAfterEveryEpoch) {
  const Dataset data = make_data(wide_data());
  Config config = full_config({sampled(12, 4, 6), sampled(0, 10, 12)});
  config.train.eval_every = 2;
  std::vector<std::size_t> layers;
  TrainObserver observer;
  observer.eval = [](const EvalReport&) {};
  observer.tables = [&](const TablesReport& report) {
    layers.push_back(report.layer);
    EXPECT_EQ(report.samples, report.epoch * data.size());
    std::size_t buckets = 0;
    for (const std::size_t count : report.occupancy.histogram) buckets += count;
    EXPECT_EQ(buckets, config.layers[report.layer].hash.tables * 8U);
  };
  Trainer(fresh_job(config, data)).run(observer);
  EXPECT_EQ(layers, (std::vector<std::size_t>{0, 1, 0, 1, 0, 1}));
}

TEST(Training, TellsWhereActiveNeuronsComeFromAndWhatTablesFind) {
  const Dataset data = make_data(wide_data());
  for (const std::uint32_t shards : {1, 3}) {
    Config config = full_config({dense(12), sampled(0, 12, 9)});
    config.layers[1].frequency = 6;
    config.train.shards = shards;
    std::size_t reports = 0;
    TrainObserver observer;
    observer.epoch = [&](const EpochReport& report) {
      ++reports;
      ASSERT_TRUE(report.sources && report.tables && report.tables->recall);
      const ActiveSources& sources = *report.sources;
      EXPECT_NEAR(sources.labels + sources.tables + sources.frequency + sources.uniform, report.active_mean,
                  1e-6);
      EXPECT_GT(sources.labels, 0);
      EXPECT_LE(sources.tables, 12);
      EXPECT_LE(sources.frequency, 6);
      EXPECT_NEAR(sources.uniform, 9, 1e-6);
      EXPECT_GE(*report.tables->recall, 0);
      EXPECT_LE(*report.tables->recall, 1);
      EXPECT_GT(report.tables->largest, 0);
      EXPECT_LE(report.tables->largest, 1);
    };
    Trainer(fresh_job(config, data)).run(observer);
    EXPECT_EQ(reports, config.train.epochs);
    config.layers[1].lsh = 0;
    observer.epoch = [&](const EpochReport& report) { EXPECT_FALSE(report.tables); };
    Trainer(fresh_job(config, data)).run(observer);
  }
}

// Weights that are all 0 at first are followed after a few steps, whatever the interval.
TEST(Training, TablesFollowWeightsThatWereAllZero) {
  Config config = full_config({dense(12), sampled(0, 10, 12)});
  config.layers[1].init_scale = 0;
  config.layers[1].hash.rehash_steps = 100000;
  config.train.batch_size = 16;
  config.train.block_size = 16;
  const Dataset data = make_data(wide_data());
  Trainer trainer(fresh_job(config, data));
  ASSERT_TRUE(trainer.network().output().index()->all_zero());
  ASSERT_GE(trainer.total_steps(), 8U);
  trainer.run({});
  EXPECT_FALSE(trainer.network().output().index()->all_zero());
}

// For a sharded layer, over all shards.
TEST(Training, TellsOfTheTablesOfAllParts) {
  const Dataset data = make_data(wide_data());
  Config config = full_config({dense(12), sampled(0, 10, 12)});
  config.train.shards = 3;
  std::size_t reports = 0;
  TrainObserver observer;
  observer.eval = [](const EvalReport&) {};
  observer.tables = [&](const TablesReport& report) {
    ++reports;
    std::size_t buckets = 0;
    for (const std::size_t count : report.occupancy.histogram) buckets += count;
    EXPECT_EQ(buckets, 3 * config.layers[1].hash.tables * 8U);
    EXPECT_LE(report.occupancy.stored, 90U * config.layers[1].hash.tables);
    EXPECT_GE(report.occupancy.stored, 80U * config.layers[1].hash.tables);  // some bucket may be full
  };
  Trainer(fresh_job(config, data)).run(observer);
  EXPECT_EQ(reports, 3U);
}

TEST(Training, LearnsInPartsAsInOne) {
  const Dataset data = make_data(wide_data());
  for (const LossKind loss : all_losses()) {
    Config config = full_config({dense(32), sampled(0, 30, 30)});
    config.loss.kind = loss;
    config.train.epochs = 12;
    const Trace one = train(config, data);
    config.train.shards = 3;
    const Trace parts = train(config, data);
    EXPECT_NEAR(parts.losses.back(), one.losses.back(), 0.1 * one.losses.back());
  }
}

TEST(Training, EvaluatesAtTheConfiguredEpochs) {
  const Dataset data = make_data(wide_data());
  for (const std::uint32_t every : {0, 1, 2}) {
    Config config = full_config({dense(8), sampled(0, 10, 12)});
    config.train.epochs = 5;
    config.train.eval_every = every;
    std::vector<std::uint32_t> epochs;
    TrainObserver observer;
    observer.eval = [&](const EvalReport& report) {
      epochs.push_back(report.epoch);
      EXPECT_EQ(report.metrics.samples(), data.size());
    };
    Trainer(fresh_job(config, data, &data)).run(observer);
    using Epochs = std::vector<std::uint32_t>;
    EXPECT_EQ(epochs, every == 0 ? Epochs{5} : every == 1 ? (Epochs{1, 2, 3, 4, 5}) : (Epochs{2, 4, 5}));
  }
}

void expect_trains(const Config& config, const DataSpec& spec, const std::string& name) {
  SCOPED_TRACE(name);
  const Dataset data = make_data(spec);
  const Trace trace = train(config, data);
  for (const auto& array : trace.weights) {
    for (const float w : array) ASSERT_TRUE(std::isfinite(w));
  }
}

TEST(Training, TinyDataSets) {
  for (const std::uint32_t block : {1, 16, 32}) {
    for (const std::uint32_t samples : {1, 2, 17}) {
      Config config = full_config({dense(8), sampled(0, 3, 2)});
      config.train.block_size = block;
      DataSpec spec;
      spec.samples = samples;
      expect_trains(config, spec, "few samples");
      spec.labels = 1;
      expect_trains(config, spec, "one label");
      spec.labels = 60, spec.max_labels = 20;
      expect_trains(config, spec, "more labels than draws");
      spec.features = 1;
      expect_trains(config, spec, "one feature");
    }
  }
}

// Every kind of first layer; row-wise Adagrad divides by the number of columns, which may be 0.
TEST(Training, SamplesWithoutFeatures) {
  using Layers = std::vector<LayerConfig>;
  for (const Layers& layers :
       {Layers{dense(8), sampled(0, 3, 2)}, Layers{dense(0)}, Layers{sampled(12, 0, 4), dense(0)},
        Layers{sampled(12, 3, 2), dense(0)}, Layers{sampled(0, 3, 2)}}) {
    for (const std::uint32_t block : {1, 16}) {
      Config config = full_config(layers);
      config.train.block_size = block;
      DataSpec spec;
      spec.featureless = 2;
      expect_trains(config, spec, "some samples without features");
      spec.featureless = 1;
      expect_trains(config, spec, "no sample has a feature");
    }
  }
}

// A layer with LSH only may find no candidates.
TEST(Training, LayersWithoutUniformFill) {
  Config config = full_config({dense(8), sampled(40, 3, 0), sampled(0, 3, 0)});
  for (LayerConfig& layer : config.layers) {
    layer.hash.k = 8, layer.hash.range_pow = 8, layer.hash.tables = 1;
  }
  for (const std::uint32_t block : {1, 16}) {
    config.train.block_size = block;
    expect_trains(config, wide_data(), "lsh only");
  }
}

}  // namespace
}  // namespace slide::test
