// Tests of predictions, against sorted scores of the naive network, and of evaluation, against counting.
#include "engine/inference/inference.h"
#include "engine/crosses/feature_transform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <set>
#include <vector>

#include "engine/base/error.h"
#include "engine/training/trainer.h"
#include "tests/network/naive_network.h"
#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

using Ranking = std::vector<Prediction>;
using Layers = std::vector<LayerConfig>;

Dataset inference_data(std::uint32_t samples, std::uint64_t seed = 1) {
  DataSpec spec;
  spec.samples = samples, spec.features = 60, spec.labels = 150, spec.entries = 7, spec.seed = seed;
  return make_data(spec);
}

// A network after a few steps; its buckets hold every neuron, so that candidates never run out.
Trainer trained(const Layers& layers, const Dataset& data) {
  Config config = make_config(layers, 32, 16);
  for (LayerConfig& layer : config.layers) layer.hash.bucket_capacity = 256;
  config.train.epochs = 2;
  config.train.threads = 2;
  Trainer trainer(fresh_job(config, data));
  trainer.run({});
  return trainer;
}

std::vector<Ranking> predict(const TrainedNetwork& trained, const Dataset& data,
                             const InferenceOptions& options) {
  std::vector<Ranking> all(data.size());
  std::vector<int> calls(data.size(), 0);
  std::mutex mutex;
  Predictor(trained, options).predict(data, [&](std::size_t sample, std::span<const Prediction> best) {
    const std::lock_guard lock(mutex);
    all.at(sample).assign(best.begin(), best.end());
    ++calls.at(sample);
  });
  for (const int n : calls) EXPECT_EQ(n, 1);
  return all;
}

InferenceOptions options_of(std::size_t k, Inference mode = Inference::kFull, int threads = 1) {
  InferenceOptions options;
  options.k = k;
  options.mode = mode;
  options.threads = threads;
  return options;
}

// Over all neurons: exact, or bounds first, independent of the machine's preference.
InferenceOptions full_options(std::size_t k, bool bound_first, int threads = 1) {
  InferenceOptions options = options_of(k, Inference::kFull, threads);
  options.bound_first = bound_first;
  return options;
}
// For float sums of at most some hundred products of size 1.
constexpr double kTolerance = 2e-5;

// Expects k labels with their true scores, best first, and no better label missing.
void expect_is_best(const Ranking& got, const Vector& scores, std::size_t k) {
  ASSERT_EQ(got.size(), std::min(k, scores.size()));
  std::set<std::uint32_t> listed;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(listed.insert(got[i].label).second) << "label " << got[i].label << " twice";
    ASSERT_NEAR(got[i].score, scores.at(got[i].label), kTolerance);
    ASSERT_TRUE(i == 0 || ranks_before(got[i - 1], got[i]));
  }
  for (std::uint32_t label = 0; label < scores.size(); ++label) {
    ASSERT_TRUE(listed.count(label) == 1 || scores[label] <= got.back().score + kTolerance) << label;
  }
}

TEST(Inference, FullIsASortOfAllScoresAtEveryBatchEdge) {
  const Dataset train = inference_data(64);
  const Trainer trainer = trained({dense(24), sampled(0, 20, 12)}, train);
  const NaiveNetwork naive(trainer.network());
  const FeatureCrosses& pairs = crosses_of(trainer.network());
  ASSERT_TRUE(pairs.active());
  for (const std::uint32_t samples : {1, 31, 32, 33, 127, 128, 129, 511, 512, 513, 1025}) {
    const Dataset data = inference_data(samples, 2);
    for (const bool bound_first : {false, true}) {
      const auto all = predict(trainer.trained(), data, full_options(5, bound_first));
      const Dataset paired = pairs.crossed(data, 1);
      for (std::uint32_t s = 0; s < samples; ++s) expect_is_best(all[s], naive.scores(paired.features(s)), 5);
    }
  }
}

TEST(Inference, FullOfEveryShape) {
  const Dataset data = inference_data(70);
  for (const Layers& layers :
       {Layers{dense(24), dense(0)}, Layers{dense(0)}, Layers{sampled(0, 20, 12)},
        Layers{sampled(40, 9, 9), dense(0)}, Layers{dense(256), dense(256, Activation::kTanh), dense(0)},
        Layers{dense(17, Activation::kTanh, 0.4), dense(19, Activation::kSigmoid, 0.2), sampled(0, 20, 12)},
        Layers{dense(17), sampled(40, 9, 9, Activation::kTanh, 0.3), sampled(0, 20, 12)}}) {
    const Trainer trainer = trained(layers, data);
    const NaiveNetwork naive(trainer.network());
    for (const bool bound_first : {false, true}) {
      const auto all = predict(trainer.trained(), data, full_options(7, bound_first, 2));
      for (std::uint32_t s = 0; s < data.size(); ++s)
        expect_is_best(all[s], naive.scores(data.features(s)), 7);
    }
  }
}

TEST(Inference, MoreThanThereAreLabelsGivesAllOfThem) {
  const Dataset data = inference_data(40);
  const Trainer trainer = trained({dense(24), sampled(0, 20, 12)}, data);
  const NaiveNetwork naive(trainer.network());
  for (const bool bound_first : {false, true}) {
    const auto all = predict(trainer.trained(), data, full_options(200, bound_first));
    for (std::uint32_t s = 0; s < data.size(); ++s)
      expect_is_best(all[s], naive.scores(data.features(s)), 200);
  }
}

TEST(Inference, EqualScoresGoToTheSmallerLabel) {
  const Dataset data = inference_data(33);
  Trainer trainer = trained({dense(24), sampled(0, 20, 12)}, data);
  Layer& output = trainer.network().output();
  for (float& w : output.weights().weights) w = 0.0f;
  for (std::uint32_t label = 0; label < 150; ++label)
    *output.bias().row(label) = label % 10 == 3 ? 2.0f : 1.0f;
  for (const bool bound_first : {false, true}) {
    for (const Ranking& best : predict(trainer.trained(), data, full_options(17, bound_first))) {
      std::vector<std::uint32_t> labels;
      for (const Prediction& p : best) labels.push_back(p.label);
      EXPECT_EQ(labels, (std::vector<std::uint32_t>{3, 13, 23, 33, 43, 53, 63, 73, 83, 93, 103, 113, 123, 133,
                                                    143, 0, 1}));
    }
  }
}

TEST(Inference, ThreadCountsAgree) {
  const Dataset data = inference_data(1200);
  const Trainer trainer = trained({dense(24), sampled(0, 20, 12)}, data);
  for (const Inference mode : {Inference::kFull, Inference::kLsh}) {
    const auto one = predict(trainer.trained(), data, options_of(5, mode, 1));
    for (const int threads : {2, 3, 7}) {
      const auto more = predict(trainer.trained(), data, options_of(5, mode, threads));
      for (std::size_t s = 0; s < data.size(); ++s) {
        ASSERT_EQ(one[s].size(), more[s].size());
        for (std::size_t i = 0; i < one[s].size(); ++i) {
          ASSERT_EQ(one[s][i].label, more[s][i].label);
          ASSERT_EQ(one[s][i].score, more[s][i].score);
        }
      }
    }
  }
}

TEST(Inference, ProgressEndsAtAllSamples) {
  const Dataset data = inference_data(700);
  const Trainer trainer = trained({dense(24), sampled(0, 20, 12)}, data);
  std::mutex mutex;
  std::set<std::size_t> heard;
  InferenceOptions options = options_of(3, Inference::kFull, 3);
  options.progress = summed_progress(
      [&](std::size_t done, std::size_t all) {
        const std::lock_guard lock(mutex);
        EXPECT_EQ(all, 700U);
        heard.insert(done);
      },
      700);
  predict(trainer.trained(), data, options);
  EXPECT_GT(heard.size(), 1U);
  EXPECT_EQ(*heard.rbegin(), 700U);
  EXPECT_FALSE(summed_progress({}, 700));
}

TEST(Inference, LshRanksItsCandidatesByTheirTrueScores) {
  const Dataset data = inference_data(70);
  for (const Layers& layers : {Layers{dense(24), sampled(0, 20, 12)}, Layers{sampled(0, 20, 12)},
                               Layers{dense(17), sampled(40, 9, 9), sampled(0, 20, 12)}}) {
    const Trainer trainer = trained(layers, data);
    const NaiveNetwork naive(trainer.network());
    InferenceOptions options = options_of(200, Inference::kLsh);
    options.candidates = 30;
    const auto all = predict(trainer.trained(), data, options);
    for (std::uint32_t s = 0; s < data.size(); ++s) {
      const Vector scores = naive.scores(data.features(s));
      ASSERT_GT(all[s].size(), 0u);
      ASSERT_LE(all[s].size(), 30u);
      std::set<std::uint32_t> labels;
      for (std::size_t i = 0; i < all[s].size(); ++i) {
        ASSERT_TRUE(labels.insert(all[s][i].label).second);
        ASSERT_NEAR(all[s][i].score, scores.at(all[s][i].label), kTolerance);
        ASSERT_TRUE(i == 0 || ranks_before(all[s][i - 1], all[s][i]));
      }
    }
  }
}

TEST(Inference, LshWithAllNeuronsAsCandidatesIsFull) {
  const Dataset data = inference_data(40);
  const Trainer trainer = trained({dense(24), sampled(0, 20, 12)}, data);
  const NaiveNetwork naive(trainer.network());
  InferenceOptions options = options_of(5, Inference::kLsh);
  options.candidates = 150;
  const auto lsh = predict(trainer.trained(), data, options),
             full = predict(trainer.trained(), data, options_of(5));
  std::size_t common = 0;
  for (std::uint32_t s = 0; s < data.size(); ++s) {
    for (const Prediction& p : lsh[s]) {
      common += static_cast<std::size_t>(std::count_if(
          full[s].begin(), full[s].end(), [&](const Prediction& q) { return q.label == p.label; }));
    }
  }
  EXPECT_GE(common, data.size() * 4);  // at least four of five: six tables of four buckets miss a few
}

// Some samples of a block, and all of them.
TEST(Inference, SamplesWithoutFeaturesGetTheBiases) {
  const Dataset train = inference_data(64);
  for (const std::uint32_t every : {3, 1}) {
    DataSpec spec;
    spec.samples = 35, spec.features = 60, spec.labels = 150, spec.featureless = every;
    const Dataset data = make_data(spec);
    for (const Layers& layers :
         {Layers{dense(24), sampled(0, 20, 12)}, Layers{sampled(0, 20, 12)}, Layers{dense(0)}}) {
      const Trainer trainer = trained(layers, train);
      const NaiveNetwork naive(trainer.network());
      const auto all = predict(trainer.trained(), data, options_of(5));
      for (std::uint32_t s = 0; s < data.size(); ++s)
        expect_is_best(all[s], naive.scores(data.features(s)), 5);
      if (layers.back().kind == LayerKind::kSampled)
        predict(trainer.trained(), data, options_of(5, Inference::kLsh));
    }
  }
}

// Rows that are equal in bfloat16.
void make_rows_similar(Layer& output) {
  for (std::uint32_t label = 100; label < 110; ++label) {
    for (std::size_t c = 0; c < output.inputs(); ++c)
      output.weights().row(label)[c] =
          output.weights().row(99)[c] * (1.0f + 1e-4f * static_cast<float>(label - 99));
  }
}

// Bounded scoring loses no top label, for any k and any closeness of scores.
TEST(Inference, ScreenedSamplesGetTheBestOfAllScores) {
  const Dataset data = inference_data(80);
  for (const bool wide : {false, true}) {
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      Config config = make_config({dense(24), sampled(0, 20, 12)}, 32, 16);
      config.layers.back().wide = wide;
      config.train.weights = precision;
      config.train.epochs = 2;
      Trainer trainer(fresh_job(config, data));
      trainer.run({});
      if (precision == Precision::kFp32) make_rows_similar(trainer.network().output());
      for (const std::size_t k : {1, 5, 149, 150, 200}) {
        const auto expected = predict(trainer.trained(), data, full_options(k, false));
        const auto expect_same = [&](std::size_t s, std::span<const Prediction> best) {
          ASSERT_EQ(best.size(), expected[s].size());
          for (std::size_t i = 0; i < best.size(); ++i)
            ASSERT_NEAR(best[i].score, expected[s][i].score, kTolerance);
        };
        const auto together = predict(trainer.trained(), data, full_options(k, true));
        for (std::size_t s = 0; s < data.size(); ++s) expect_same(s, together[s]);
        InferenceOptions options = options_of(k);
        options.low_latency = true;
        const Predictor predictor(trainer.trained(), options);
        EXPECT_GT(predictor.index_bytes(), 150 * 24U);  // rounded rows
        Predictor::Scratch scratch;
        for (std::size_t s = 0; s < data.size(); ++s) {
          predictor.predict(data.slice(s, 1), {k, false}, scratch,
                            [&](std::size_t, std::span<const Prediction> best) { expect_same(s, best); });
        }
      }
    }
  }
}

// Equal scores up to rounding, in the same order.
void expect_same_scores(const std::vector<Ranking>& got, const std::vector<Ranking>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t s = 0; s < got.size(); ++s) {
    ASSERT_EQ(got[s].size(), expected[s].size()) << s;
    for (std::size_t i = 0; i < got[s].size(); ++i) {
      const float want = expected[s][i].score;
      if (std::isinf(want)) {
        ASSERT_EQ(got[s][i].score, want) << s;
      } else {
        ASSERT_NEAR(got[s][i].score, want, kTolerance * std::max(1.0f, std::fabs(want))) << s;
      }
    }
  }
}

// Approximate scores without a bound or with a loose one, and overflowing sums. The last block is partial.
TEST(Inference, OddWeightsAndActivationsAreScoredAllTheSame) {
  enum class Place { kWeight, kBias, kHidden };
  const Dataset data = inference_data(300);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float odd : {nan, infinity, -infinity, 3e38f, 1e30f, 1e15f, -1e3f}) {
    for (const Place place : {Place::kWeight, Place::kBias, Place::kHidden}) {
      Trainer trainer = trained({dense(24), sampled(0, 20, 12)}, data);
      Layer& output = trainer.network().output();
      if (place == Place::kWeight) output.weights().row(40)[2] = odd;
      if (place == Place::kBias) *output.bias().row(40) = odd;
      if (place == Place::kHidden) {  // for samples with feature 3; their scores may overflow
        trainer.network().input()->weights().row(3)[2] = odd;
        output.weights().row(40)[2] = 300.0f;
      }
      SCOPED_TRACE(testing::Message() << odd << " in place " << static_cast<int>(place));
      expect_same_scores(predict(trainer.trained(), data, full_options(5, true)),
                         predict(trainer.trained(), data, full_options(5, false)));
      if (HasFatalFailure()) return;
    }
  }
}

// More labels than a sample's candidate limit, with scores within the error bounds: all labels for samples
// with features, none in the first block, whose samples have no features.
TEST(Inference, ScoresTooCloseForBoundsAreExact) {
  constexpr std::uint32_t kLabels = 6000;
  std::vector<Sample> samples;
  for (std::uint32_t i = 0; i < 300; ++i) {
    samples.push_back({{}, {i * 19 % kLabels}});
    if (i >= 128) samples.back().features = {{i % 60, 1.0f}, {60 + i % 7, 2.0f}};
  }
  const Dataset data = dataset_of(samples, 67, kLabels);
  for (const double share : {0.0, 0.35}) {
    Config config = small_wide_config();
    config.neighbours.share = share;
    Trainer trainer(fresh_job(config, data));
    trainer.run({});
    Layer& output = trainer.network().output();
    for (std::uint32_t label = 0; label < kLabels; ++label) {
      const float part = static_cast<float>(label * 7 % kLabels) / kLabels;
      for (std::size_t c = 0; c < output.inputs(); ++c) output.weights().row(label)[c] = 1.0f + 1e-4f * part;
      *output.bias().row(label) = 1e-4f * part;
    }
    expect_same_scores(predict(trainer.trained(), data, full_options(9, true)),
                       predict(trainer.trained(), data, full_options(9, false)));
  }
}

// Single samples with a growing scratch, and all at once.
TEST(Inference, ACallersScratchGivesWhatThreadsOfTheirOwnGive) {
  const Dataset data = inference_data(133);
  Layers with_wide = {dense(24), sampled(0, 20, 12)};
  with_wide.back().wide = true;
  for (const Layers& layers :
       {with_wide, Layers{sampled(0, 20, 12)}, Layers{dense(17), dense(19), dense(0)}}) {
    const Trainer trainer = trained(layers, data);
    for (const Inference mode : {Inference::kFull, Inference::kLsh}) {
      InferenceOptions options = options_of(9, mode);
      options.log_softmax = true;
      const auto expected = predict(trainer.trained(), data, options);
      const Predictor predictor(trainer.trained(), options_of(1, mode));
      Predictor::Scratch scratch;
      std::size_t answered = 0;
      const auto check = [&](std::size_t sample, std::span<const Prediction> best) {
        ++answered;
        ASSERT_EQ(best.size(), expected[sample].size());
        for (std::size_t i = 0; i < best.size(); ++i) {
          EXPECT_NEAR(best[i].score, expected[sample][i].score, kTolerance);
          EXPECT_TRUE(i == 0 || ranks_before(best[i - 1], best[i]));
        }
      };
      // Tables queried by sparse inputs break ties by the sample's number.
      const bool same_alone = mode == Inference::kFull || layers.size() > 1;
      for (std::size_t s = 0; same_alone && s < data.size(); ++s) {
        predictor.predict(data.slice(s, 1), {9, true}, scratch,
                          [&](std::size_t, auto best) { check(s, best); });
      }
      predictor.predict(data, {9, true}, scratch, check);
      EXPECT_EQ(answered, data.size() * (same_alone ? 2 : 1));
    }
  }
}

TEST(Inference, NothingToPredict) {
  const Dataset train = inference_data(40);
  const Trainer trainer = trained({dense(24), sampled(0, 20, 12)}, train);
  EXPECT_TRUE(predict(trainer.trained(), Dataset({}, 60, 150), options_of(5)).empty());
}

TEST(Inference, UnknownFeaturesAndMissingTablesAreInputErrors) {
  const Dataset data = inference_data(40);
  const Trainer trainer = trained({dense(24), dense(0)}, data), single = trained({dense(0)}, data);
  EXPECT_THROW(Predictor(single.trained(), options_of(5, Inference::kLsh)), InputError);
  DataSpec wide;
  wide.features = 61;
  EXPECT_THROW(predict(trainer.trained(), make_data(wide), options_of(5)), InputError);
}

TEST(TopK, KeepsTheBestOfAnyOrder) {
  Rng rng(1, Purpose::kTest);
  TopK::Scratch scratch;
  for (const std::size_t k : {1, 2, 5, 40}) {
    for (int round = 0; round < 50; ++round) {
      TopK top;
      top.reset(k, 30);
      Ranking all;
      for (std::uint32_t label = 0; label < 30; ++label) all.push_back({label, float(rng.below(12)) - 6.0f});
      for (std::size_t i = all.size(); i > 1; --i)
        std::swap(all[i - 1], all[rng.below(static_cast<std::uint32_t>(i))]);
      for (const Prediction& p : all) top.offer(p.label, p.score);
      top.finish(scratch);
      std::sort(all.begin(), all.end(), ranks_before);
      ASSERT_EQ(top.best().size(), std::min<std::size_t>(k, 30));
      for (std::size_t i = 0; i < top.best().size(); ++i) {
        ASSERT_EQ(top.best()[i].label, all[i].label);
        ASSERT_EQ(top.best()[i].score, all[i].score);
      }
      ASSERT_EQ(top.threshold(), k <= 30 ? all[k - 1].score : std::numeric_limits<float>::lowest());
    }
  }
}

TEST(Evaluate, EqualsCounting) {
  DataSpec spec;
  spec.samples = 150, spec.features = 60, spec.labels = 150, spec.entries = 7, spec.unlabelled = 9;
  const Dataset data = make_data(spec);
  const Trainer trainer = trained({dense(24), sampled(0, 20, 12)}, data);
  const std::vector<std::uint32_t> ks = {5, 1, 3};
  const auto all = predict(trainer.trained(), data, options_of(5));
  for (const int threads : {1, 3}) {
    const Metrics metrics =
        evaluate(trainer.trained(), data, options_of(2, Inference::kFull, threads), ks, nullptr);
    EXPECT_EQ(metrics.samples(), data.size());
    for (const std::uint32_t k : ks) {
      double precision = 0.0, recall = 0.0;
      for (std::size_t s = 0; s < data.size(); ++s) {
        const auto labels = data.labels(s);
        double hits = 0.0;
        for (std::size_t i = 0; i < k; ++i)
          hits += double(std::count(labels.begin(), labels.end(), all[s][i].label));
        precision += hits / k;
        if (!labels.empty()) recall += hits / double(labels.size());
      }
      EXPECT_NEAR(metrics.precision(k), precision / double(data.size()), 1e-12);
      EXPECT_NEAR(metrics.recall(k), recall / double(data.size()), 1e-12);
    }
  }
}

}  // namespace
}  // namespace slide::test
