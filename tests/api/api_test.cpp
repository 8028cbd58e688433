// Tests of the public C++ API: training, callbacks, the model file, predictions.
#include <gtest/gtest.h>

#include <slide/slide.h>
#include <sstream>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "datasets/reader.h"
#include "tests/api/samples.h"
#include "tests/cli/program.h"
#include "tests/expect.h"

namespace slide::api {
namespace {

using test::Program;
using test::Samples;

constexpr const char* kConfig = R"(
train = {epochs = 3, batch_size = 32, block_size = 16, threads = 2}
[[layer]]
size = 8
[[layer]]
kind = "sampled"
lsh = 4
uniform = 4
[layer.hash]
k = 3
tables = 4
range_pow = 3
)";

Config config(const Config::Overrides& overrides = {}) {
  return Config::from_toml(kConfig, overrides);
}

// The CSR arrays of a file, with its values unchanged.
Samples samples_of(const std::string& path) {
  ReadOptions options;
  options.normalize = false;
  const Dataset data = read_dataset(path, options);
  Samples samples;
  samples.features = data.feature_count();
  samples.labels = data.label_count();
  for (std::size_t i = 0; i < data.size(); ++i) {
    const SparseRow row = data.features(i);
    samples.add({row.ids.begin(), row.ids.end()}, {row.values.begin(), row.values.end()},
                {data.labels(i).begin(), data.labels(i).end()});
  }
  return samples;
}

Predictions predict(const Model& model, const Data& data, Inference inference = Inference::kConfigured) {
  PredictOptions options;
  options.k = 3;
  options.inference = inference;
  options.threads = 2;
  return Predictor(model, options).predict(data);
}

void expect_same(const Predictions& a, const Predictions& b) {
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.scores, b.scores);
}

TEST(Api, TrainsTheModelOfTheCommandLine) {
  const Program slide;
  ASSERT_EQ(slide
                .run({"generate", "--samples", "400", "--test-samples", "50", "--features", "60", "--labels",
                      "30", "--out", "data"})
                .code,
            0);
  test::write_file(slide.path("config.toml"), kConfig);
  ASSERT_EQ(slide
                .run({"train", "config.toml", "--set", "data.train=data/train.txt", "--set",
                      "data.test=data/test.txt", "--out", "run"})
                .code,
            0);
  const std::string wanted = read_file(slide.path("run/model.slide"));
  ASSERT_FALSE(wanted.empty());
  const Config config = Config::load(slide.path("run/config.toml"));
  const Samples arrays = samples_of(slide.path("data/train.txt"));
  const std::string saved = slide.path("api.slide");

  train(config, arrays.data()).save(saved, true);
  EXPECT_EQ(read_file(saved), wanted) << "from memory";
  train(config, Data::read(slide.path("data/train.txt"), config)).save(saved, true);
  EXPECT_EQ(read_file(saved), wanted) << "from a file";
  const Model model = train(config);
  model.save(saved, true);
  EXPECT_EQ(read_file(saved), wanted) << "from the files of the configuration";

  const Data test = Data::read(slide.path("data/test.txt"), model);
  const auto printed =
      slide.run({"predict", "run/model.slide", "data/test.txt", "--k", "3", "--threads", "2"}).out;
  const Predictions best = predict(model, test);
  std::istringstream answers(printed);
  for (std::size_t i = 0; i < test.samples() * best.k; ++i) {
    std::uint32_t label = 0;
    char colon = 0;
    double probability = 0.0;
    ASSERT_TRUE(answers >> label >> colon >> probability) << i;
    EXPECT_EQ(best.labels[i], label) << i;
    EXPECT_NEAR(best.scores[i], probability, 6e-7) << i;  // printed with six digits
  }
  std::string more;
  EXPECT_FALSE(answers >> more) << more;
}

TEST(Api, AConfigurationOfNothingHasTheDefaultLayers) {
  const std::string text = Config().to_toml();
  EXPECT_TRUE(contains(text, "kind = \"sampled\""));
  EXPECT_EQ(Config::from_toml(text).to_toml(), text);
}

TEST(Api, ScalesToUnitLengthOnlyWhereTheConfigurationSaysSo) {
  const Program files;
  Samples once = test::tiny_samples(), twice = once;
  for (float& value : twice.values) value *= 2;
  const auto bytes_of = [&](const Samples& samples, const char* normalize) {
    train(config({normalize}), samples.data()).save(files.path("m"), true);
    return read_file(files.path("m"));
  };
  EXPECT_EQ(bytes_of(once, "data.normalize=true"), bytes_of(twice, "data.normalize=true"));
  EXPECT_NE(bytes_of(once, "data.normalize=false"), bytes_of(twice, "data.normalize=false"));
}

TEST(Api, AConfigurationIsAValue) {
  Config first = config();
  const Config second = first;
  first.set({"train.batch_size=64", "train.block_size=64"});
  EXPECT_NE(first.to_toml(), second.to_toml());
  EXPECT_EQ(second.to_toml(), config().to_toml());
  EXPECT_EQ(Config::from_toml(first.to_toml()).to_toml(), first.to_toml());
  EXPECT_THROW(first.set({"train.batch_sizes=64"}), InputError);
  EXPECT_THROW(Config::load("/nowhere.toml"), InputError);
}

TEST(Api, ACallbackStopsTrainingAndTheModelStays) {
  const Data data = test::tiny_samples().data();
  Callbacks callbacks;
  std::uint64_t total = 0;
  callbacks.step = [&](const Progress& progress) {
    EXPECT_EQ(progress.epoch, 1U);
    EXPECT_EQ(progress.samples, progress.step * 32);
    EXPECT_GT(progress.loss, 0);
    total = progress.total_steps;
    return progress.step < 3;
  };
  const Model stopped = train(config(), data, callbacks);
  EXPECT_EQ(stopped.steps(), 3U);
  EXPECT_GT(total, 3U);
  const Program files;
  stopped.save(files.path("m"), true);
  expect_same(predict(Model::load(files.path("m")), data), predict(stopped, data));
}

TEST(Api, WhatACallbackThrowsComesOutAsItIs) {
  const Data data = test::tiny_samples().data();
  Callbacks callbacks;
  callbacks.step = [](const Progress&) -> bool { throw std::out_of_range("step"); };
  EXPECT_THROW(train(config(), data, callbacks), std::out_of_range);
  callbacks = {};
  callbacks.epoch = [](const EpochSummary&) { throw 7; };
  EXPECT_THROW(train(config(), data, callbacks), int);
  callbacks = {};
  callbacks.evaluation = [](const Evaluation&) { throw std::bad_alloc(); };
  EXPECT_THROW(train(config(), data, data, callbacks), std::bad_alloc);
}

TEST(Api, EvaluationsTellMeasuresByNameAndMaySaveTheModel) {
  const Data data = test::tiny_samples().data();
  const Program files;
  std::vector<Measures> seen;
  Callbacks callbacks;
  std::uint32_t epochs = 0;
  callbacks.epoch = [&](const EpochSummary& summary) { EXPECT_EQ(summary.epoch, ++epochs); };
  callbacks.evaluation = [&](const Evaluation& evaluation) {
    EXPECT_FALSE(evaluation.validation);
    EXPECT_EQ(evaluation.epoch, epochs);
    seen.push_back(evaluation.measures);
    evaluation.save_model(files.path("then"));
  };
  const Model model = train(config(), data, data, callbacks);
  ASSERT_EQ(seen.size(), 3U);
  model.save(files.path("now"));
  EXPECT_EQ(read_file(files.path("then")), read_file(files.path("now")));
  for (const char* name : {"p_at_1", "p_at_5", "ndcg_at_3", "psp_at_5", "recall_at_1"})
    EXPECT_EQ(seen.back().count(name), 1U) << name;
  EXPECT_EQ(evaluate(model, data), seen.back());
  const Measures other = evaluate(model, data, {2});
  EXPECT_EQ(other.count("p_at_2"), 1U);
  EXPECT_EQ(other.count("p_at_1"), 0U);
  EXPECT_GT(seen.back().at("p_at_1"), 0.5);
}

TEST(Api, PatienceEndsTrainingWithoutCallbacksToo) {
  const Data data = test::tiny_samples().data();
  const Config patient = config({"data.validation=0.2", "train.patience=1", "train.epochs=200"});
  std::uint64_t total = 0;
  Callbacks callbacks;
  callbacks.step = [&](const Progress& progress) {
    total = progress.total_steps;
    return true;
  };
  EXPECT_LT(train(patient, data, callbacks).steps(), total);
}

TEST(Api, ValidatesOnAFileBesideDataInMemory) {
  const Data data = test::tiny_samples().data();
  const Program files;
  data.write(files.path("validation.txt"), "xmc");
  const Config validated = config({"data.validation=" + files.path("validation.txt"), "train.epochs=2"});
  std::size_t validations = 0;
  Callbacks callbacks;
  callbacks.evaluation = [&](const Evaluation& evaluation) { validations += evaluation.validation ? 1 : 0; };
  train(validated, data, callbacks);
  EXPECT_EQ(validations, 2U);
}

TEST(Api, ALoadedModelPredictsAndIsSavedAgain) {
  const Data data = test::tiny_samples().data();
  const Program files;
  train(config(), data).save(files.path("first"));
  const Model first = Model::load(files.path("first"));
  first.save(files.path("second"));
  const Model second = Model::load(files.path("second"));
  for (const Inference inference : {Inference::kFull, Inference::kLsh})
    expect_same(predict(first, data, inference), predict(second, data, inference));
  EXPECT_EQ(second.features(), 12U);
  EXPECT_EQ(second.labels(), 9U);
  EXPECT_EQ(second.steps(), first.steps());
  EXPECT_FALSE(second.is_text());
  EXPECT_THROW(second.label_name(0), InputError);
  EXPECT_THROW(Model::load(files.path("nothing")), InputError);
  EXPECT_THROW(second.save(files.path("no/folder")), Error);
}

TEST(Api, PlacesBeyondAllLabelsAreEmpty) {
  const Data data = test::tiny_samples().data();
  PredictOptions options;
  options.k = 20;
  const Predictions best = Predictor(train(config(), data), options).predict(data);
  ASSERT_EQ(best.labels.size(), data.samples() * 20);
  for (std::size_t i = 0; i < best.labels.size(); ++i) {
    EXPECT_EQ(best.labels[i] == kNoLabel, i % 20 >= 9) << i;
    EXPECT_TRUE(i % 20 < 9 || best.scores[i] == 0.0F) << i;
  }
  options.k = 0;
  EXPECT_THROW(Predictor(train(config(), data), options), InputError);
}

TEST(Api, DataOfMoreFeaturesThanTheModelAreRefused) {
  Samples wide = test::tiny_samples();
  wide.features = 13;
  const Data data = test::tiny_samples().data();
  EXPECT_THROW(predict(train(config(), data), wide.data()), InputError);
  EXPECT_THROW(train(config(), data, wide.data()), InputError);
}

// Threads share one Predictor, for single samples, few samples and many samples.
TEST(Api, PredictionsRunAtTheSameTime) {
  const Samples samples = test::tiny_samples(300);
  const Data all = samples.data();
  const Predictor predictor(train(config(), all));
  const Predictions wanted = predictor.predict(all);
  const Data some[] = {samples.slice(0, 1).data(), samples.slice(0, 100).data(), all};
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        const Predictions got = predictor.predict(some[(t + round) % 3]);
        if (!std::equal(got.labels.begin(), got.labels.end(), wanted.labels.begin())) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Api, TrainingRunsAtTheSameTime) {
  const Data data = test::tiny_samples().data();
  const Program files;
  train(config(), data).save(files.path("0"));
  std::vector<std::thread> threads;
  for (int t = 1; t <= 3; ++t) {
    threads.emplace_back([&, t] { train(config(), data).save(files.path(std::to_string(t))); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const char* name : {"1", "2", "3"}) EXPECT_EQ(read_file(files.path(name)), read_file(files.path("0")));
}

TEST(Api, TextHasLabelsWithNames) {
  const Program files;
  std::string text;
  for (int i = 0; i < 60; ++i)
    text += i % 2 == 0 ? "__label__red rose blood fire\n" : "__label__blue sea sky ice\n";
  test::write_file(files.path("train.txt"), text);
  const Config wanted = config({"train.epochs=30"});
  const Model model = train(wanted, Data::read(files.path("train.txt"), wanted));
  ASSERT_TRUE(model.is_text());
  EXPECT_EQ(model.label_id("red").has_value(), true);
  EXPECT_EQ(model.label_id("green").has_value(), false);
  EXPECT_THROW(model.label_name(2), InputError);
  const Predictions best = predict(model, Data::from_texts({"sea ice", "fire", "Blood\nrose"}, model));
  EXPECT_EQ(model.label_name(best.labels[0]), "blue");
  EXPECT_EQ(model.label_name(best.labels[3]), "red");
  EXPECT_EQ(model.label_name(best.labels[6]), "red");
  const Data again = Data::read(files.path("train.txt"), model);
  EXPECT_EQ(evaluate(model, again, {1}).at("p_at_1"), 1.0);
  const Model plain = train(config(), test::tiny_samples().data());
  EXPECT_THROW(Data::from_texts({"sea"}, plain), InputError);
}

TEST(Api, TellsItsVersion) {
  const std::string told = Program().run({"--version"}).out;
  EXPECT_EQ(told.rfind("slide " + std::string(version()) + " (", 0), 0U) << told;
}

}  // namespace
}  // namespace slide::api
