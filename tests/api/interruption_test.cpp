// Tests of the public C++ API: interrupted calls, and arguments that no call takes.
#include <gtest/gtest.h>

#include <slide/slide.h>

#include <atomic>
#include <stdexcept>
#include <string>

#include "tests/api/samples.h"
#include "tests/expect.h"

namespace slide::api {
namespace {

using test::Samples;

// Sample i of `rows` has feature and label i % 20.
Samples many(std::uint32_t rows) {
  Samples samples;
  samples.features = 20;
  samples.labels = 20;
  for (std::uint32_t i = 0; i < rows; ++i) samples.add({i % 20}, {1.0F}, {i % 20});
  return samples;
}

Config quick(std::uint32_t epochs) {
  return Config({"train.epochs=" + std::to_string(epochs), "train.threads=2", "layer.0.size=8"});
}

TEST(ApiInterruption, EndsPredictionsAndMetrics) {
  const Samples some = many(200), all = many(400'000);
  const Model model = train(quick(1), some.data());
  const Data data = all.data();
  PredictOptions options;
  options.threads = 2;
  const Predictor predictor(model, options);
  const auto always = [] { return true; };
  EXPECT_FALSE(interruptible([&] { predictor.predict(data); }, always));
  EXPECT_FALSE(interruptible([&] { predictor.predict_reaching(data, 0.1F); }, always));
  EXPECT_FALSE(interruptible([&] { evaluate(model, data, {1}, 2); }, always));
  Predictions found;
  EXPECT_TRUE(interruptible([&] { found = predictor.predict(data); }, [] { return false; }));
  EXPECT_EQ(found.labels.size(), data.samples() * 5);
}

TEST(ApiInterruption, WhatTheCallerThrowsComesOut) {
  const Samples all = many(400'000);
  const Model model = train(quick(1), many(200).data());
  const Data data = all.data();
  const auto throws = []() -> bool { throw std::out_of_range("of the question"); };
  EXPECT_THROW(interruptible([&] { evaluate(model, data, {1}, 2); }, throws), std::out_of_range);
  EXPECT_THROW(interruptible([] { throw std::length_error("of the work"); }, throws), std::length_error);
}

TEST(ApiInterruption, AfterTheFirstStepTheCallbackEndsTraining) {
  std::atomic<bool> wanted{false};
  std::uint64_t steps = 0;
  Callbacks callbacks;
  callbacks.step = [&](const Progress&) {
    wanted = true;
    return ++steps < 300;
  };
  std::uint64_t of_model = 0;
  const Samples samples = many(5'000);
  const bool whole =
      interruptible([&] { of_model = train(quick(100'000), samples.data(), callbacks).steps(); },
                    [&] { return wanted.load(); });
  EXPECT_TRUE(whole);
  EXPECT_EQ(of_model, 300U);
}

TEST(ApiArguments, RanksBeyondAllLabelsAreRefused) {
  const Samples samples = many(200);
  const Model model = train(quick(1), samples.data());
  PredictOptions options;
  for (const std::size_t k : {std::size_t{10'001}, std::size_t{1'000'000'000}, ~std::size_t{0}}) {
    options.k = k;
    EXPECT_EQ(input_error([&] { Predictor(model, options); }),
              "k = " + std::to_string(k) + ", but there are 20 labels; give 10000 or less");
  }
  options.k = 10'000;
  EXPECT_EQ(Predictor(model, options).predict(many(3).data()).labels.size(), 30'000U);
  EXPECT_EQ(input_error([&] {
              evaluate(model, samples.data(), {1, 1'000'000'000});
            }),
            "ranks: k = 1000000000, but there are 20 labels; give 10000 or less");
}

TEST(ApiArguments, NamesWithANulAreRefused) {
  const Samples samples = many(200);
  const Model model = train(quick(1), samples.data());
  const std::string name("a\0b.txt", 7);
  const std::string refusal = "a b.txt: this name holds a NUL character, and no file has such a name";
  EXPECT_EQ(input_error([&] { Model::load(name); }), refusal);
  EXPECT_EQ(input_error([&] { model.save(name); }), refusal);
  EXPECT_EQ(input_error([&] { Data::read(name, quick(1)); }), refusal);
  EXPECT_EQ(input_error([&] { Data::read(name, model); }), refusal);
  EXPECT_EQ(input_error([&] { samples.data().write(name); }), refusal);
  EXPECT_EQ(input_error([&] { Config::load(name); }), refusal);
  EXPECT_EQ(input_error([&] { write_report({name}, "r.html"); }), refusal);
}

}  // namespace
}  // namespace slide::api
