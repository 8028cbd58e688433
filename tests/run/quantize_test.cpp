// Tests of quantized models: content, predictions, and refusal of damage.
#include "engine/run/quantize.h"
#include "engine/crosses/feature_transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <span>

#include "datasets/reader.h"
#include "engine/base/error.h"
#include "engine/inference/inference.h"
#include "engine/model/int8_rows.h"
#include "engine/model/model_file.h"
#include "engine/run/continue_training.h"
#include "engine/training/trainer.h"
#include "engine/wide/linear_term.h"
#include "tests/run/file_bytes.h"

namespace slide {
namespace {

using test::with_checksum;

namespace fs = std::filesystem;

constexpr const char* kSmallConfig = R"(
[train]
epochs = 3
batch_size = 16
block_size = 16
threads = 1
[data]
crosses = 0
idf_power = 0.5
[optimizer]
kind = "adam"
learning_rate = 0.01
[[layer]]
size = 20
[[layer]]
kind = "sampled"
lsh = 4
uniform = 8
wide = true
)";

// 90 samples; sample i has label i mod 9 and features near it.
std::string small_text() {
  std::string text = "90 30 9\n";
  for (int i = 0; i < 90; ++i) {
    const int label = i % 9;
    text += fmt::format("{} {}:1 {}:0.5 {}:{}\n", label, label, label + 1, 11 + i % 19, 0.25 * (1 + i % 3));
  }
  return text;
}

class QuantizeTest : public FolderTest {
 protected:
  void SetUp() override {
    std::ofstream(path("data")) << small_text();
    train();
  }
  void train(const std::vector<std::string>& overrides = {}) {
    const Config config = parse_config(kSmallConfig, "test", overrides);
    Trainer trainer(fresh_job(config, data_));
    trainer.run({});
    save_model(path("model"), {config, trainer.shape(), trainer.trained(),
                               &trainer.training().optimizer_state(), trainer.steps()});
  }
  QuantizeResult make(std::optional<ModelForm> form, std::optional<Pruning> pruning = {}) {
    return quantize_model({path("model"), path("small"), form, pruning, path("data"), 1});
  }

  // The top label of every sample, over all labels or with LSH.
  std::vector<std::uint32_t> first_labels(const char* name, Inference mode = Inference::kFull) const {
    Model model = load_model(path(name));
    model.build_tables(1);
    InferenceOptions options;
    options.k = 1;
    options.mode = mode;
    options.threads = 1;
    std::vector<std::uint32_t> first(data_.size());
    Predictor(model.trained(), options).predict(data_, [&](std::size_t i, std::span<const Prediction> best) {
      if (!best.empty()) first[i] = best[0].label;
    });
    return first;
  }

  Dataset data_ = parse_dataset(small_text(), "small");
};

TEST_F(QuantizeTest, WithoutTheOptimizerAllElseStays) {
  const QuantizeResult result = make(std::nullopt);
  EXPECT_GT(result.before.bytes.optimizer, 0U);
  EXPECT_EQ(result.after.bytes.optimizer, 0U);
  EXPECT_EQ(result.before.bytes.file - result.after.bytes.file, result.before.bytes.optimizer);
  EXPECT_EQ(result.before.measures[0].ndcg, result.after.measures[0].ndcg);
  const Model a = load_model(path("model")), b = load_model(path("small"));
  EXPECT_EQ(b.version, a.version);
  EXPECT_EQ(to_toml(b.config), to_toml(a.config));
  EXPECT_EQ(b.hashes.at(0).seed, a.hashes.at(0).seed);
  EXPECT_EQ(b.hashes.at(0).generation, a.hashes.at(0).generation);
  EXPECT_TRUE(std::ranges::equal(a.network.output().weights().weights, b.network.output().weights().weights));
  EXPECT_EQ(first_labels("small", Inference::kLsh), first_labels("model", Inference::kLsh));
}

TEST_F(QuantizeTest, QuantizedFormsPredictTheSame) {
  for (const ModelForm form : {ModelForm::kBf16, ModelForm::kInt8}) {
    const QuantizeResult result = make(form);
    EXPECT_EQ(result.samples, 90U);
    EXPECT_EQ(result.after.form, form);
    const double share = double(result.after.bytes.weights) / double(result.before.bytes.weights);
    EXPECT_LT(share, form == ModelForm::kBf16 ? 0.85 : 0.4);  // rows of 20 are padded to 32
    EXPECT_LT(result.after.bytes.neighbours, result.before.bytes.neighbours / 2);
    EXPECT_LT(result.after.bytes.wide, result.before.bytes.wide / 2);
    EXPECT_NEAR(result.after.measures[0].precision, result.before.measures[0].precision, 0.03);
    const Model model = load_model(path("small"));
    EXPECT_EQ(model.version, 10U);
    EXPECT_EQ(model.neighbours->storage().feature_weights,
              load_model(path("model")).neighbours->storage().feature_weights);
    EXPECT_FALSE(model.has_optimizer_state);
    EXPECT_EQ(model.network.output().weights().is_bf16(), form == ModelForm::kBf16);
    EXPECT_EQ(model.network.output().weights().is_int8(), form == ModelForm::kInt8);
  }
}

TEST_F(QuantizeTest, Int8WeightsAreTheNearestOfTheirRow) {
  make(ModelForm::kInt8);
  const Model model = load_model(path("model")), small = load_model(path("small"));
  const Parameters &exact = model.network.output().weights(), &near = small.network.output().weights();
  std::vector<float> row(exact.columns), found(exact.columns);
  for (std::size_t r = 0; r < exact.rows; ++r) {
    exact.load_row(r, row.data());
    near.load_row(r, found.data());
    const float most = std::ldexp(0.5f, int8_exponent(row));
    for (std::size_t c = 0; c < row.size(); ++c) EXPECT_LE(std::fabs(row[c] - found[c]), most);
  }
  EXPECT_TRUE(
      std::ranges::equal(model.network.output().bias().weights, small.network.output().bias().weights));
  const LinearTerm::Storage &a = linear_term_of(model.network.output())->storage(),
                            &b = linear_term_of(small.network.output())->storage();
  for (std::size_t n = 0; n + 1 < b.offsets.size(); ++n) {
    std::uint64_t at = a.offsets[n];
    const std::span<const float> own(a.weights.data() + at, a.offsets[n + 1] - at);
    const float most = std::ldexp(0.5f, int8_exponent(own));
    for (std::uint64_t i = b.offsets[n]; i < b.offsets[n + 1]; ++i, ++at) {
      while (a.features.data()[at] < b.features.data()[i]) ++at;
      ASSERT_EQ(a.features.data()[at], b.features.data()[i]);
      EXPECT_LE(std::fabs(a.weights.data()[at] - b.weight(n, i)), most);
    }
  }
}

// The same network with bfloat16 rows and a float linear term, and the same neighbours in bfloat16.
Network expanded(const Model& model) {
  Network network(model.config, model.shape);
  const auto from = model.network.matrices();
  const auto to = network.matrices();
  for (std::size_t m = 0; m < to.size(); ++m) {
    std::vector<float> row(to[m]->columns);
    for (std::size_t r = 0; r < to[m]->rows; ++r) {
      from[m]->load_row(r, row.data());
      to[m]->store_row(r, row.data());
    }
  }
  network.output().set_term(std::make_unique<LinearTerm>(linear_term_of(model.network.output())->widened()));
  set_scale(network, scale_of(model.network));
  for (std::size_t l = 0; l < network.layers().size(); ++l)
    network.layers()[l].rebuild_index(model.hashes[l].seed, model.hashes[l].generation, 1);
  return network;
}

Neighbours expanded_neighbours(const Model& model) {
  Neighbours::Storage kept = model.neighbours->storage();
  kept.widen();
  EXPECT_FALSE(kept.small.in_bytes());
  return {model.config.neighbours, std::move(kept), model.shape.features};
}

std::vector<float> all_scores(const TrainedNetwork& trained, const Dataset& data,
                              const InferenceOptions& options) {
  std::vector<float> scores(data.size() * options.k, -1.0F);
  Predictor(trained, options).predict(data, [&](std::size_t i, std::span<const Prediction> best) {
    for (const Prediction& one : best) scores[i * options.k + one.label] = one.score;
  });
  return scores;
}

TEST_F(QuantizeTest, SmallFormsAnswerAsTheirValuesDo) {
  for (const ModelForm form : {ModelForm::kBf16, ModelForm::kInt8}) {
    for (const char* share : {"neighbours.share=0.25", "neighbours.share=0"}) {
      train({share});
      make(form);
      Model model = load_model(path("small"));
      model.build_tables(1);
      EXPECT_FALSE(linear_term_of(model.network.output())->storage().small.empty());
      const Network network = expanded(model);
      const std::optional<Neighbours> neighbours =
          model.neighbours ? std::optional(expanded_neighbours(model)) : std::nullopt;
      InferenceOptions options;
      options.k = 9;
      options.threads = 1;
      options.candidates = 4;
      for (const Inference mode : {Inference::kFull, Inference::kLsh}) {
        for (const std::size_t samples : {90, 17, 1}) {
          options.mode = mode;
          options.low_latency = samples == 1;
          const Dataset some = data_.slice(5 % (91 - samples), samples);
          const auto held = all_scores(model.trained(), some, options);
          const auto want = all_scores({network, neighbours ? &*neighbours : nullptr}, some, options);
          for (std::size_t i = 0; i < held.size(); ++i) ASSERT_NEAR(held[i], want[i], 1e-5) << samples;
        }
      }
    }
  }
}

TEST_F(QuantizeTest, BytesBecomeSixteenBitsWithoutLoss) {
  make(ModelForm::kInt8);
  quantize_model({path("small"), path("again"), ModelForm::kBf16, {}, {}, 1});
  const Model bytes = load_model(path("small")), halves = load_model(path("again"));
  const auto from = bytes.network.matrices(), to = halves.network.matrices();
  for (std::size_t m = 0; m < to.size(); ++m) {
    std::vector<float> a(to[m]->columns), b(to[m]->columns);
    for (std::size_t r = 0; r < to[m]->rows; ++r) {
      from[m]->load_row(r, a.data());
      to[m]->load_row(r, b.data());
      ASSERT_EQ(a, b);
    }
  }
  EXPECT_TRUE(std::ranges::equal(linear_term_of(bytes.network.output())->widened().storage().weights,
                                 linear_term_of(halves.network.output())->widened().storage().weights));
  EXPECT_EQ(expanded_neighbours(bytes).storage().values, halves.neighbours->storage().values);
}

// Incremental training of a quantized model uses bfloat16 and floats, starting from the model's values.
TEST_F(QuantizeTest, TrainingContinuesFromQuantizedModels) {
  for (const ModelForm form : {ModelForm::kBf16, ModelForm::kInt8}) {
    make(form);
    const Model model = load_model(path("small"));
    const TrainedStart start =
        start_continued(model, model.config, continued_rows(model, data_, nullptr, 1), nullptr, {}, 1);
    const Parameters &was = model.network.output().weights(), &is = start.network.output().weights();
    ASSERT_TRUE(is.is_bf16());
    std::vector<float> before(was.columns), now(is.columns);
    for (std::size_t r = 0; r < was.rows; ++r) {
      was.load_row(r, before.data());
      is.load_row(r, now.data());
      EXPECT_EQ(now, before);
    }
    const LinearTerm::Storage& wide = linear_term_of(start.network.output())->storage();
    EXPECT_TRUE(wide.small.empty());
    EXPECT_EQ(wide.weights.size(), wide.features.size());
    EXPECT_GE(wide.weights.size(), linear_term_of(model.network.output())->weights());
    ASSERT_TRUE(start.neighbours);
    EXPECT_FALSE(start.neighbours->storage().small.in_bytes());
    EXPECT_EQ(start.neighbours->samples(), data_.size());
  }
}

TEST_F(QuantizeTest, ASecondTimeNothingChanges) {
  for (const ModelForm form : {ModelForm::kBf16, ModelForm::kInt8}) {
    make(form);
    for (const std::optional<ModelForm> again : {std::optional(form), std::optional<ModelForm>()}) {
      quantize_model({path("small"), path("again"), again, {}, {}, 1});
      EXPECT_EQ(read_file(path("again")), read_file(path("small")));
    }
  }
}

TEST_F(QuantizeTest, PruningDropsTheSmallest) {
  const Model model = load_model(path("model"));
  const AlignedArray<float>& all = linear_term_of(model.network.output())->storage().weights;
  const auto left = [&] {
    std::vector<float> weights;
    const Model small = load_model(path("small"));
    const AlignedArray<float>& kept = linear_term_of(small.network.output())->storage().weights;
    weights.assign(kept.data(), kept.data() + kept.size());
    return weights;
  };
  make(std::nullopt, Pruning{0.1, 0});
  std::vector<float> expected;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (std::fabs(all.data()[i]) >= 0.1f) expected.push_back(all.data()[i]);
  }
  ASSERT_LT(expected.size(), all.size());
  EXPECT_EQ(left(), expected);

  const QuantizeResult result = make(std::nullopt, Pruning{0, 0.25});
  const std::size_t drops = all.size() / 4;
  EXPECT_EQ(result.before.wide_weights, all.size());
  EXPECT_EQ(result.after.wide_weights, all.size() - drops);
  std::vector<float> sizes(all.size());
  std::transform(all.data(), all.data() + all.size(), sizes.begin(), [](float w) { return std::fabs(w); });
  std::ranges::sort(sizes);
  for (const float weight : left()) EXPECT_GE(std::fabs(weight), sizes[drops - 1]);
}

TEST_F(QuantizeTest, WhatCannotBeIsRefused) {
  const auto refusal = [](const QuantizeOptions& options) -> std::string {
    return input_error([&] { quantize_model(options); });
  };
  const std::string before = read_file(path("model"));
  EXPECT_TRUE(contains(refusal({path("model"), path("model"), ModelForm::kInt8, {}, {}, 1}), "another name"));
  EXPECT_TRUE(contains(refusal({path("model"), folder_.root(), ModelForm::kInt8, {}, {}, 1}), "folder"));
  EXPECT_EQ(read_file(path("model")), before);
  train({"layer.-1.wide=false"});
  EXPECT_TRUE(contains(refusal({path("model"), path("small"), {}, Pruning{0.1, 0}, {}, 1}), "linear term"));
  EXPECT_FALSE(fs::exists(path("small")));
}

TEST_F(QuantizeTest, DamageIsRefused) {
  for (const ModelForm form : {ModelForm::kBf16, ModelForm::kInt8}) {
    make(form);
    const std::string bytes = read_file(path("small"));
    std::size_t refused = 0;
    for (std::size_t at = bytes.size() - 2000; at < bytes.size() - 12; at += 9) {  // sparse rows
      std::string other = bytes;
      other[at] = static_cast<char>(other[at] ^ 0x41);
      std::ofstream(path("small"), std::ios::binary) << other;
      EXPECT_THROW(load_model(path("small")), InputError);
      std::ofstream(path("small"), std::ios::binary) << with_checksum(other);
      try {  // readable files give finite predictions
        const Model model = load_model(path("small"));
        const LinearTerm wide = linear_term_of(model.network.output())->widened();
        EXPECT_TRUE(std::ranges::all_of(wide.storage().weights, [](float w) { return std::isfinite(w); }));
      } catch (const InputError&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, 0U);
    std::string both = bytes;
    both[12] = static_cast<char>(both[12] | 32 | 64);
    std::ofstream(path("small"), std::ios::binary) << with_checksum(both);
    EXPECT_THROW(load_model(path("small")), InputError);
  }
}

}  // namespace
}  // namespace slide
