// Predictors of one model share the index of inference, whatever each of them is asked for.
#include <gtest/gtest.h>

#include <slide/slide.h>

#include <array>
#include <optional>
#include <thread>

#include "engine/api/internals.h"
#include "tests/api/samples.h"

namespace slide::api {
namespace {

class OneIndex : public ::testing::Test {
 protected:
  PredictOptions asked(Inference inference, std::size_t k) const {
    PredictOptions options;
    options.inference = inference, options.k = k, options.threads = 1;
    return options;
  }
  std::size_t made() const { return Internals::of(model_)->scorers.made(); }

  const Data data_ = test::tiny_samples().data();
  const Model model_ =
      train(Config::from_toml("", {"layer.0.size=16", "neighbours.share=0.0", "train.epochs=1",
                                   "train.threads=1", "eval.candidates=4"}),
            data_);
};

TEST_F(OneIndex, IsBuiltOnceForEveryK) {
  const Predictor first(model_, asked(Inference::kLsh, 1));
  EXPECT_EQ(made(), 1U);
  for (const std::size_t k : {1U, 3U, 5U}) {
    PredictOptions options = asked(Inference::kLsh, k);
    options.scores = Scores::kLogit;
    const Predictions shared = Predictor(model_, options).predict(data_);
    EXPECT_EQ(shared.k, k);
    EXPECT_EQ(made(), 1U);
  }
}

TEST_F(OneIndex, IsBuiltOnceByThreadsThatAskTogether) {
  std::array<std::optional<Predictor>, 4> predictors;
  std::array<std::thread, 4> threads;
  for (std::size_t t = 0; t < threads.size(); ++t)
    threads[t] = std::thread([&, t] { predictors[t].emplace(model_, asked(Inference::kLsh, t + 1)); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made(), 1U);
}

TEST_F(OneIndex, IsAnotherForOtherWaysAndIsFreedWithItsPredictors) {
  {
    const Predictor tables(model_, asked(Inference::kLsh, 1)), all(model_, asked(Inference::kFull, 1));
    EXPECT_EQ(made(), 2U);
    EXPECT_EQ(all.predict(data_).labels, Predictor(model_, asked(Inference::kFull, 1)).predict(data_).labels);
    EXPECT_EQ(made(), 2U);
  }
  const Predictor again(model_, asked(Inference::kLsh, 1));
  EXPECT_EQ(made(), 3U);
}

}  // namespace
}  // namespace slide::api
