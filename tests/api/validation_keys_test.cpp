// Tests of groups and times of samples, in memory and in files: which samples are held out.
#include <gtest/gtest.h>
#include <slide/slide.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/api/samples.h"
#include "tests/cli/program.h"
#include "tests/expect.h"

namespace slide::api {
namespace {

using test::Samples;

class ApiValidationKeys : public ::testing::Test {
 protected:
  Config with_keys(std::vector<std::string> more = {}) const {
    return Config::from_toml(
        "train = {epochs = 1, batch_size = 16, block_size = 16, threads = 2}\n[[layer]]\nsize = "
        "8\n[[layer]]\n",
        more);
  }
  static std::vector<float> label_vectors(const Model& model) {
    std::vector<float> vectors(model.labels() * model.vector_size());
    model.label_vectors(vectors.data());
    return vectors;
  }
  static Data keyed_by(const Data& data, const std::vector<std::string>& values, bool times) {
    const std::vector<std::string_view> views(values.begin(), values.end());
    return times ? data.timed(views) : data.grouped(views);
  }

  const Samples all_ = test::tiny_samples(200);
  // The remaining samples where the last fifth is held out.
  const std::vector<float> without_last_ =
      label_vectors(train(with_keys(), test::tiny_samples(200).slice(0, 160).data()));
};

TEST_F(ApiValidationKeys, TimesHoldTheLatestOut) {
  std::vector<std::string> times;
  for (int i = 0; i < 200; ++i) times.push_back(std::to_string(i < 160 ? i % 50 : 50 + i % 7));
  const Config share = with_keys({"data.validation=0.2"});
  EXPECT_EQ(label_vectors(train(share, keyed_by(all_.data(), times, true))), without_last_);
  EXPECT_EQ(label_vectors(train(with_keys({"data.validation=0.2", "data.time=order"}), all_.data())),
            without_last_);
  EXPECT_NE(label_vectors(train(share, all_.data())), without_last_) << "they are drawn";
  EXPECT_EQ(label_vectors(train(with_keys(), keyed_by(all_.data(), times, true))),
            label_vectors(train(with_keys(), all_.data())))
      << "without a share there is no other effect";
}

TEST_F(ApiValidationKeys, GroupsStayWhole) {
  std::vector<std::string> groups, times;
  for (int i = 0; i < 200; ++i) {
    groups.push_back(i < 40 || i >= 160 ? "ends" : "group " + std::to_string(i / 40));
    times.push_back(std::to_string(i));
  }
  const Data grouped = keyed_by(all_.data(), groups, false);
  const auto drawn = label_vectors(train(with_keys({"data.validation=0.2"}), grouped));
  int equal = 0;
  for (std::size_t held = 1; held < 4; ++held) {
    Samples left = all_.slice(0, 40 * held);
    const Samples behind = all_.slice(40 * (held + 1), 160 - 40 * held);
    for (std::size_t i = 0; i + 1 < behind.offsets.size(); ++i) {
      const Samples one = behind.slice(i, 1);
      left.add({one.ids.begin(), one.ids.end()}, one.values, {static_cast<std::uint32_t>(one.label_ids[0])});
    }
    equal += drawn == label_vectors(train(with_keys(), left.data())) ? 1 : 0;
  }
  EXPECT_EQ(equal, 1) << "one of the groups of 40";
  const auto latest =
      label_vectors(train(with_keys({"data.validation=0.4"}), keyed_by(grouped, times, true)));
  EXPECT_EQ(latest, label_vectors(train(with_keys(), all_.slice(40, 120).data()))) << "both ends";
}

TEST_F(ApiValidationKeys, OfAFileComeWithItsSamples) {
  const test::Program files;
  all_.data().write(files.path("data.txt"), "xmc");
  std::string times;
  for (int i = 0; i < 200; ++i) times += i < 160 ? "2023\n" : "2024\n";
  test::write_file(files.path("times.txt"), times);
  const Config config = with_keys({"data.validation=0.2", "data.time=" + files.path("times.txt")});
  const Model model = train(config, Data::read(files.path("data.txt"), config));
  Config whole = config;
  whole.set({"data.train=" + files.path("data.txt")});
  EXPECT_EQ(label_vectors(model), label_vectors(train(whole)));
  TuneOptions options;
  options.trials = 1;
  const TuneResult found = tune(config, Data::read(files.path("data.txt"), config), options);
  EXPECT_EQ(found.folds, 1U);
  EXPECT_EQ(found.validation_samples + found.decision_samples, 30U);
  EXPECT_EQ(tune(with_keys(), Data::read(files.path("data.txt"), with_keys()), options).folds, 5U);
}

TEST_F(ApiValidationKeys, WhatIsWrongIsRefused) {
  const Data data = all_.data();
  EXPECT_EQ(input_error([&] { train(with_keys({"data.group=g.txt"}), data); }),
            "data.group = g.txt belongs to a file; read that with it, or give the groups with the samples");
  EXPECT_EQ(input_error([&] { train(with_keys({"data.time=t.txt"}), data); }),
            "data.time = t.txt belongs to a file; read that with it, or give the times with the samples");
  EXPECT_EQ(input_error([&] { keyed_by(data, {"a", "b"}, false); }), "groups: there are 2 for 200 samples");
  EXPECT_EQ(
      input_error([&] { keyed_by(data, std::vector<std::string>(200, "5"), true); }),
      "data.time: all samples of the data have the time '5', so none is the latest; give other times, or "
      "order for their order in the file");
  const Data one_group = keyed_by(data, std::vector<std::string>(200, "g"), false);
  EXPECT_TRUE(contains(input_error([&] { train(with_keys({"data.validation=0.1"}), one_group); }),
                       "all 200 samples with labels are of one group"));
}

// hold_out() parts samples as a share does, and training on the parts gives the same model.
TEST_F(ApiValidationKeys, HeldOutSamplesValidate) {
  const Config share = with_keys({"data.validation=0.2", "train.patience=1", "train.epochs=6"});
  std::vector<Measures> by_share, by_samples;
  const auto into = [](std::vector<Measures>& all) {
    Callbacks callbacks;
    callbacks.evaluation = [&all](const Evaluation& at) {
      EXPECT_TRUE(at.validation);
      all.push_back(at.measures);
    };
    return callbacks;
  };
  const Model one = train(share, all_.data(), into(by_share));
  const HeldOut parts = hold_out(share, all_.data());
  EXPECT_EQ(parts.validation.samples(), 40U);
  EXPECT_EQ(parts.train.samples(), 160U);
  const Model other = train_validated(share, parts.train, parts.validation, into(by_samples));
  EXPECT_EQ(label_vectors(one), label_vectors(other));
  EXPECT_EQ(by_share, by_samples);
  EXPECT_LT(by_share.size(), 6U) << "patience ends it";
  const Model unnamed = train_validated(with_keys(), parts.train, parts.validation);
  EXPECT_TRUE(contains(unnamed.config().to_toml(), "validation = \"memory\""));
}

TEST_F(ApiValidationKeys, WhatCannotValidateIsRefused) {
  EXPECT_TRUE(contains(input_error([&] { hold_out(with_keys(), all_.data()); }), "no share"));
  Samples wide = all_.slice(0, 9);
  wide.features = 13;
  EXPECT_TRUE(contains(input_error([&] { train_validated(with_keys(), all_.data(), wide.data()); }),
                       "the validation data have 13 features, the training data 12"));
  Samples bare = all_.slice(0, 9);
  bare.label_ids.clear();
  bare.label_offsets.assign(10, 0);
  EXPECT_EQ(input_error([&] { train_validated(with_keys(), all_.data(), bare.data()); }),
            "the validation data have no sample with a label");
}

}  // namespace
}  // namespace slide::api
