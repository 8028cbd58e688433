// With InferenceOptions::by_row, the scores of a sample are bitwise independent of other samples, their
// number and the number of threads.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/inference/inference.h"
#include "engine/training/trainer.h"
#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

using Answers = std::vector<std::vector<Prediction>>;

bool operator==(const std::vector<Prediction>& a, const std::vector<Prediction>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Prediction& x, const Prediction& y) {
    return x.label == y.label && x.score == y.score;
  });
}

// Number of differences between two lists of answers.
std::size_t differences(const Answers& a, const Answers& b) {
  std::size_t count = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) count += a[i] == b[i] ? 0 : 1;
  return count;
}

// Predicts the rows in groups of `size`, in the given order; returns answers in row order.
Answers in_groups(const Predictor& predictor, const Dataset& data, std::size_t size, bool on_one_thread) {
  Answers answers(data.size());
  std::vector<Predictor::Scratch> scratch(1);
  const InferenceOptions& options = predictor.options();
  for (std::size_t first = 0; first < data.size(); first += size) {
    const Dataset part = data.slice(first, std::min(size, data.size() - first));
    const Predictor::Sink sink = [&](std::size_t sample, std::span<const Prediction> best) {
      answers[first + sample].assign(best.begin(), best.end());
    };
    if (on_one_thread) {
      predictor.predict(part, {options.k, options.log_softmax}, scratch[0], sink);
    } else {
      predictor.predict(part, scratch, sink);
    }
  }
  return answers;
}

void expect_scores_by_row(const Config& config, Inference mode) {
  DataSpec spec;
  spec.samples = 140, spec.features = 300, spec.labels = 150, spec.entries = 30;
  const Dataset data = make_data(spec);
  Trainer trainer(fresh_job(config, data));
  trainer.run({});
  InferenceOptions options;
  options.by_row = true;
  options.mode = mode;
  options.candidates = 20;
  options.bound_first = true;
  options.threads = 2;
  options.log_softmax = config.loss.kind == LossKind::kSoftmax;
  const Predictor predictor(trainer.trained(), options);
  const Answers together = in_groups(predictor, data, data.size(), false);
  for (const std::size_t size : {1, 7, 49, 130}) {
    EXPECT_EQ(differences(in_groups(predictor, data, size, true), together), 0U) << "groups of " << size;
    EXPECT_EQ(differences(in_groups(predictor, data, size, false), together), 0U) << "groups of " << size;
  }
}

TEST(ByRow, ScoresAreASamplesOwn) {
  for (const bool wide : {false, true}) {
    for (const double share : {0.0, 0.4}) {
      for (const Precision weights : {Precision::kFp32, Precision::kBf16}) {
        SCOPED_TRACE("wide " + std::to_string(wide) + " share " + std::to_string(share) + " weights " +
                     std::to_string(static_cast<int>(weights)));
        Config config = scoring_config(wide, share);
        config.train.epochs = 1;
        config.train.weights = weights;
        for (const Inference mode : {Inference::kFull, Inference::kLsh}) {
          SCOPED_TRACE(mode == Inference::kLsh ? "lsh" : "full");
          expect_scores_by_row(config, mode);
        }
      }
    }
  }
}

// A first layer stored by neuron, and an output layer as first layer.
TEST(ByRow, ScoresAreASamplesOwnWithoutAnInputLayer) {
  for (const std::vector<LayerConfig>& layers :
       {std::vector{sampled(40, 12, 6), dense(0)}, std::vector{sampled(0, 20, 12)}}) {
    Config config = make_config(layers, 64, 16);
    config.train.epochs = 1;
    for (LayerConfig& layer : config.layers) layer.hash = small_hash();
    const bool single = layers.size() == 1;
    expect_scores_by_row(config, Inference::kFull);
    if (single) expect_scores_by_row(config, Inference::kLsh);
  }
}

}  // namespace
}  // namespace slide::test
