// Tests of ensembles: logits are the means of the models', and models that differ are refused.
#include "engine/model/ensemble.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "engine/config/parse.h"
#include "engine/model/model_file.h"
#include "engine/run/quantize.h"
#include "engine/wide/linear_term.h"
#include "tests/expect.h"
#include "tests/files.h"
#include "tests/network/network_test_util.h"
#include "tests/run/model_of.h"

namespace slide::test {
namespace {

namespace fs = std::filesystem;
using Keys = std::vector<std::string>;

Dataset ensemble_data(std::uint64_t seed) {
  DataSpec spec;
  spec.samples = 400, spec.features = 60, spec.labels = 30, spec.entries = 9, spec.seed = seed;
  return make_data(spec);
}

class EnsembleTest : public ::testing::TestWithParam<Keys> {
 protected:
  std::string path(const std::string& name) const { return folder_.path(name); }

  // A model file, with the case's keys and further ones.
  std::string trained(const std::string& name, const Keys& more, const Dataset& data = ensemble_data(1),
                      const std::string& text = "") const {
    Keys keys = {"train.batch_size=32", "train.block_size=16", "train.epochs=2",
                 "layer.0.size=8",      "layer.-1.uniform=6",  "data.crosses=4"};
    keys.insert(keys.end(), GetParam().begin(), GetParam().end());
    keys.insert(keys.end(), more.begin(), more.end());
    const Model model = model_of(parse_config(text, "here", keys), data);
    save_model(path(name), {model.config, model.shape, model.trained(), &*model.optimizer, model.steps});
    return path(name);
  }
  std::string refusal(const std::vector<std::string>& models, const std::string& out) const {
    return input_error([&] { make_ensemble({models, out}); });
  }

  const TemporaryFolder folder_;
};

// Logits of all labels, from the network alone.
std::vector<std::vector<float>> logits_in(const std::string& path, const Dataset& data) {
  const Model model = load_model(path);
  InferenceOptions options;
  options.k = model.network.labels();
  std::vector<std::vector<float>> scores(data.size(), std::vector<float>(model.network.labels()));
  Predictor({model.network, nullptr}, options)
      .predict(data, [&](std::size_t i, std::span<const Prediction> best) {
        for (const Prediction& one : best) scores[i][one.label] = one.score;
      });
  return scores;
}

TEST_P(EnsembleTest, HasTheMeansOfTheirLogits) {
  const std::vector<std::string> models = {
      trained("a", {"train.seed=1"}),
      trained("b", {"train.seed=2", "layer.0.size=11", "optimizer.learning_rate=0.05"}),
      trained("c", {"train.seed=3", "layer.-1.uniform=9"})};
  const EnsembleResult result = make_ensemble({models, path("mean")});
  EXPECT_EQ(result.hidden, 8U + 11 + 8);
  EXPECT_EQ(result.bytes.optimizer, 0U);
  EXPECT_EQ(result.bytes.file, fs::file_size(path("mean")));
  const Model mean = load_model(path("mean")), first = load_model(models[0]);
  EXPECT_EQ(mean.config.layers[0].size, 27U);
  EXPECT_EQ(mean.shape.crosses, first.shape.crosses);
  EXPECT_EQ(mean.neighbours.has_value(), first.neighbours.has_value());
  const Dataset asked = ensemble_data(2);
  std::vector<std::vector<std::vector<float>>> theirs;
  for (const std::string& model : models) theirs.push_back(logits_in(model, asked));
  const auto own = logits_in(path("mean"), asked);
  const double tolerance = first.config.train.weights == Precision::kBf16 ? 0.1 : 1e-4;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    for (std::size_t l = 0; l < own[i].size(); ++l) {
      EXPECT_NEAR(own[i][l], (theirs[0][i][l] + theirs[1][i][l] + theirs[2][i][l]) / 3, tolerance);
      EXPECT_NE(theirs[0][i][l], theirs[1][i][l]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EnsembleTest,
                         ::testing::Values(Keys{}, Keys{"layer.-1.wide=true", "neighbours.share=0.25"},
                                           Keys{"train.weights=bf16", "data.idf_power=0.5"},
                                           Keys{"loss.kind=softmax", "layer.0.activation=tanh"}));

class EnsembleRefusalTest : public EnsembleTest {};
INSTANTIATE_TEST_SUITE_P(All, EnsembleRefusalTest, ::testing::Values(Keys{"layer.-1.wide=true"}));

// Patterns may differ, for example after pruning.
TEST_P(EnsembleRefusalTest, TakesOtherPatterns) {
  trained("a", {});
  QuantizeOptions smaller;
  smaller.model = path("a"), smaller.out = path("b"), smaller.pruning = Pruning{0, 0.5};
  quantize_model(smaller);
  const EnsembleResult result = make_ensemble({{path("a"), path("b")}, path("mean")});
  EXPECT_EQ(result.wide_weights, linear_term_of(load_model(path("a")).network.output())->weights());
  const Dataset asked = ensemble_data(2);
  const auto a = logits_in(path("a"), asked), b = logits_in(path("b"), asked),
             own = logits_in(path("mean"), asked);
  for (std::size_t i = 0; i < asked.size(); ++i)
    for (std::size_t l = 0; l < own[i].size(); ++l) EXPECT_NEAR(own[i][l], (a[i][l] + b[i][l]) / 2, 1e-4);
}

TEST_P(EnsembleRefusalTest, RefusesModelsThatDiffer) {
  const std::string a = trained("a", {}), out = path("mean");
  const auto expect = [&](const std::string& part, const std::vector<std::string>& models) {
    const std::string found = refusal(models, out);
    EXPECT_TRUE(contains(found, part));
    EXPECT_EQ(found.find('\n'), std::string::npos);
    EXPECT_FALSE(fs::exists(out));
  };
  expect("one model alone", {a});
  expect("no such model", {a, path("none")});
  expect("other samples", {a, trained("b", {}, ensemble_data(5))});
  DataSpec fewer;
  fewer.samples = 400, fewer.features = 59, fewer.labels = 30;
  expect("60 and 59 features", {a, trained("b", {}, make_data(fewer))});
  const std::string larger = trained("b", {"layer.-1.size=50"});
  expect("output layers of 30 and 50 neurons", {a, larger});
  expect("output layers of 50 and 30 neurons", {larger, a});
  expect("differ in '[neighbours] share",
         {trained("b", {"neighbours.share=0.2"}), trained("c", {"neighbours.share=0"})});
  expect("[data] normalize", {a, trained("b", {"data.normalize=false"})});
  expect("[loss] kind", {a, trained("b", {"loss.kind=softmax"})});
  expect("[neighbours] share = 0.1",
         {trained("c", {"neighbours.share=0.1"}), trained("b", {"neighbours.share=0.15"})});
  expect("activation", {a, trained("b", {"layer.0.activation=tanh"})});
  expect("wide", {a, trained("b", {"layer.-1.wide=false"})});
  expect("feature crosses", {a, trained("b", {"data.crosses=1"})});
  expect("one hidden layer", {trained("b", {"layer.-1.kind=sampled"}, ensemble_data(1),
                                      "[[layer]]\n[[layer]]\nsize = 8\n[[layer]]\n"),
                              a});
  QuantizeOptions smaller;
  smaller.model = a, smaller.out = path("small"), smaller.form = ModelForm::kInt8;
  quantize_model(smaller);
  expect("small form", {path("small"), a});
  EXPECT_TRUE(contains(refusal({a, path("b")}, a), "one of the files that are read"));
  EXPECT_TRUE(contains(refusal({a, path("b")}, folder_.root()), "this is a folder"));
}

}  // namespace
}  // namespace slide::test
