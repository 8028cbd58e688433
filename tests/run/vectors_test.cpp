// Tests of vectors of samples, labels and features: products equal the network's scores; both output formats.
#include "engine/run/vectors.h"
#include "engine/crosses/feature_transform.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "datasets/formats/npy.h"
#include "datasets/reader.h"
#include "engine/base/error.h"
#include "engine/inference/inference.h"
#include "engine/run/first_vectors.h"
#include "engine/run/training_run.h"
#include "tests/expect.h"
#include "tests/files.h"

namespace slide {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHidden = "[[layer]]\nsize = 8\n";

std::vector<float> vectors_of(const Model& model, const Dataset& samples, int threads) {
  std::vector<float> vectors(samples.size() * vector_width(model));
  sample_vectors(model, samples, threads, vectors.data());
  return vectors;
}

class VectorsTest : public FolderTest {
 protected:
  // Trained without linear term and neighbours, so that vectors determine the scores.
  Model vectors_model(const std::string& hidden) const {
    std::string samples = "60 6 4\n";
    for (int i = 0; i < 15; ++i) samples += "0 0:1 4:2\n1 1:1 4:2\n2 2:1 5:2\n3 3:1 0:1\n";
    std::ofstream(folder_ / "data.txt") << samples;
    Config config = parse_config(
        "[data]\ncrosses = 0\nidf_power = 0.5\n[train]\nepochs = 20\nthreads = 1\nbatch_size = "
        "16\nblock_size "
        "= 16\n"
        "[loss]\nkind = \"softmax\"\ngradient_threshold = 0\n[neighbours]\nshare = 0\n" +
            hidden + "[[layer]]\nkind = \"dense\"\nwide = false\n",
        "here");
    config.data.train = (folder_ / "data.txt").string();
    TrainingRun run(config, folder_ / "out");
    run.train({});
    return load_model(run.folder().model());
  }
  Dataset samples_of(const Model& model) const {
    ReadOptions options;
    options.feature_limit = static_cast<std::uint32_t>(model.network.features());
    return read_dataset((folder_ / "data.txt").string(), options);
  }
};

TEST_F(VectorsTest, ProductsWithLabelsAreTheScores) {
  const Model model = vectors_model(kHidden);
  const Dataset samples = samples_of(model);
  const std::size_t width = vector_width(model);
  ASSERT_EQ(width, 8U);
  const std::vector<float> vectors = vectors_of(model, samples, 2);
  ASSERT_EQ(vectors.size(), samples.size() * width);
  InferenceOptions options;
  options.k = 4;
  options.log_softmax = true;
  Predictor(model.trained(), options).predict(samples, [&](std::size_t sample, auto best) {
    std::vector<double> logits(4);
    double sum = 0;
    for (std::uint32_t label = 0; label < 4; ++label) {
      std::vector<float> of_label(width);
      label_vector(model, label, of_label);
      logits[label] = model.network.output().bias().row(label)[0];
      for (std::size_t c = 0; c < width; ++c)
        logits[label] += double(vectors[sample * width + c]) * of_label[c];
      sum += std::exp(logits[label]);
    }
    for (const Prediction& one : best)
      EXPECT_NEAR(one.score, logits[one.label] - std::log(sum), 1e-4) << "sample " << sample;
  });
}

TEST_F(VectorsTest, FeaturesMakeUpTheHiddenSums) {
  const Model model = vectors_model(kHidden);
  const Dataset samples = samples_of(model);
  ASSERT_EQ(feature_width(model), 8U);
  const std::vector<float> vectors = vectors_of(model, samples, 1);
  for (std::size_t i = 0; i < 4; ++i) {
    const SparseRow row = samples.features(i);
    std::vector<double> sums(8);
    double length = 0;
    for (std::size_t f = 0; f < row.ids.size(); ++f) {
      std::vector<float> of_feature(8);
      feature_vector(model, row.ids[f], of_feature);
      for (std::size_t c = 0; c < 8; ++c) sums[c] += double(row.values[f]) * of_feature[c];
      length += std::pow(double(row.values[f]) * scale_of(model.network).factors()[row.ids[f]], 2);
    }
    for (std::size_t c = 0; c < 8; ++c) {  // rows are rescaled to unit length after the factors
      const double sum = sums[c] / std::sqrt(length) + model.network.input()->bias().row(0)[c];
      EXPECT_NEAR(vectors[i * 8 + c], std::max(sum, 0.0), 1e-5);
    }
  }
}

TEST_F(VectorsTest, DoNotDependOnWhatComesTogether) {
  const Model model = vectors_model(kHidden);
  const Dataset samples = samples_of(model);
  const std::vector<float> together = vectors_of(model, samples, 3);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::vector<float> alone = vectors_of(model, samples.slice(i, 1), 1);
    EXPECT_TRUE(
        std::equal(alone.begin(), alone.end(), together.begin() + static_cast<std::ptrdiff_t>(i * 8)));
  }
}

TEST_F(VectorsTest, ANetworkWithoutHiddenLayerHasNone) {
  const Model model = vectors_model("");
  EXPECT_THROW(vector_width(model), InputError);
  EXPECT_THROW(feature_width(model), InputError);
}

// A network with other random weights than `model`.
Network other_network(const Model& model, Precision precision) {
  Config config = model.config;
  config.train.seed += 1;
  config.train.weights = precision;
  Network network(config, model.shape);
  network.initialise(1);
  set_scale(network, scale_of(model.network));
  return network;
}

TEST_F(VectorsTest, ActivationsBeyondFloatsAreRefused) {
  Model model = vectors_model(kHidden);
  Parameters& weights = model.network.input()->weights();
  const std::vector<float> large(weights.columns, 3e38F);
  for (std::size_t row = 0; row < weights.rows; ++row) weights.store_row(row, large.data());
  EXPECT_TRUE(contains(input_error([&] { vectors_of(model, samples_of(model), 2); }),
                       "the model's weights are too large"));
}

TEST_F(VectorsTest, AFirstLayerStartsFromThem) {
  const Model model = vectors_model(kHidden);
  const std::string path = (folder_ / "f.vec").string();
  VectorWriter writer(path, 8, {});
  writer.head(5);
  std::vector<float> vector(8);
  for (std::uint32_t id = 0; id < 5; ++id) {  // not the last
    feature_vector(model, id, vector);
    writer.add(std::to_string(id), vector);
  }
  writer.finish();
  const Parameters& from = model.network.input()->weights();
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    Network network = other_network(model, precision);
    const Network before = other_network(model, precision);
    EXPECT_EQ(start_from_vectors(path, nullptr, network), 5U);
    std::vector<float> is(8), was(8), other(8);
    for (std::uint32_t id = 0; id < 6; ++id) {
      network.input()->weights().load_row(id, is.data());
      from.load_row(id, was.data());
      before.input()->weights().load_row(id, other.data());
      const double near = precision == Precision::kFp32 ? 1e-4 : 5e-3;
      for (std::size_t c = 0; c < 8 && id < 5; ++c) EXPECT_NEAR(is[c], was[c], near * (1 + std::abs(was[c])));
      if (id == 5) {
        EXPECT_EQ(is, other);
      }
    }
  }
}

TEST_F(VectorsTest, AMatrixIsOfNumberedFeatures) {
  const Model model = vectors_model(kHidden);
  Network network = other_network(model, Precision::kFp32);
  const std::string path = (folder_ / "m.npy").string();
  VectorWriter writer(path, 8, {});
  const std::vector<float> ones(8, 1.0F), twos(8, 2.0F);
  writer.add({}, ones);
  writer.add({}, twos);
  writer.finish();
  EXPECT_EQ(start_from_vectors(path, nullptr, network), 2U);
  const float factor = scale_of(model.network).factors()[1];
  EXPECT_FLOAT_EQ(network.input()->weights().row(1)[3], 2.0F / factor);
}

TEST_F(VectorsTest, WordsAreKnownByTheirNames) {
  TextModelParts parts;
  parts.samples = 2;
  parts.hashes = {1, 2};
  parts.weights = {1, 1};
  parts.feature_names.add("ice");
  parts.feature_names.add("ice cream");
  parts.label_names.add("sweet");
  const TextModel text({}, std::move(parts));
  const Model model = vectors_model(kHidden);
  Network network = other_network(model, Precision::kFp32);
  set_scale(network, {});
  const std::string path = (folder_ / "w.vec").string();
  std::ofstream(path) << "snow 1 1 1 1 1 1 1 1\r\nice_cream 1 2 3 4 5 6 7 8\r\n\nrain 0\n";
  EXPECT_EQ(start_from_vectors(path, &text, network), 1U);
  EXPECT_EQ(network.input()->weights().row(1)[7], 8.0F);
  std::ofstream(path, std::ios::app) << "ice at@home 8 7 6 5 4 3 2 1\n";
  EXPECT_EQ(start_from_vectors(path, &text, network), 1U) << "a name with blanks";
}

TEST_F(VectorsTest, WhatIsNoVectorIsNamed) {
  const Model model = vectors_model(kHidden);
  Network network = other_network(model, Precision::kFp32);
  const std::string path = (folder_ / "bad.vec").string();
  const auto message = [&](const std::string& text) {
    std::ofstream(path, std::ios::trunc) << text;
    return input_error([&] { start_from_vectors(path, nullptr, network); });
  };
  EXPECT_EQ(message("0 1 2 3 4 5 6 7 8\n1 1 2 3 4 5 x 7 8\n"),
            path + ":2: number 6, 'x', is no finite number");
  EXPECT_EQ(message("0 1 2 3 4 5 6 inf 8\n"), path + ":1: number 7, 'inf', is no finite number");
  EXPECT_TRUE(contains(message("0 1 2 3\n"), ":1: a vector of 3 numbers, but the first layer has 8 neurons"));
  EXPECT_TRUE(contains(message("6 1 2 3 4 5 6 7 8\n"), "no line begins with a number of a feature"));
  EXPECT_TRUE(contains(message(""), "no line begins"));
  const Model flat = vectors_model("");
  Network none = other_network(flat, Precision::kFp32);
  EXPECT_THROW(start_from_vectors(path, nullptr, none), InputError);
}

TEST_F(VectorsTest, TextHasNamesWithoutBlanks) {
  std::string text;
  VectorWriter writer("", 2, [&](std::string_view piece) { text += piece; });
  writer.head(2);
  writer.add("New York", std::vector<float>{1, -0.5F});
  writer.add({}, std::vector<float>{0, 2});
  writer.finish();
  EXPECT_EQ(text, "2 2\nNew_York 1 -0.5\n0 2\n");
}

TEST_F(VectorsTest, AMatrixTellsItsRows) {
  const std::string path = (folder_ / "v.npy").string();
  VectorWriter writer(path, 3, {});
  writer.head(2);
  const std::vector<float> first = {1, 2, 3}, second = {4, 5, 6};
  writer.add("a", first);
  EXPECT_FALSE(fs::exists(path)) << "a file is whole when it has its name";
  writer.add("b", second);
  writer.finish();
  const std::string bytes = read_file(path);
  const NpyArray matrix(bytes, NpyName{path, "v", ""});
  EXPECT_EQ(matrix.header().shape, (std::vector<std::uint64_t>{2, 3}));
  std::vector<float> values;
  ASSERT_TRUE(matrix.numbers(values));
  EXPECT_EQ(values, (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST_F(VectorsTest, AFullPathIsAnError) {
  EXPECT_THROW(VectorWriter((folder_ / "missing" / "v.npy").string(), 3, {}), Error);
}

}  // namespace
}  // namespace slide
