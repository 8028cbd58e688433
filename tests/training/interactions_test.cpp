// Tests of training on implicit feedback: each of a sample's items is either an input or a target.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "engine/inference/inference.h"
#include "engine/network/loss.h"
#include "tests/training/training_trace.h"

namespace slide::test {
namespace {

constexpr std::uint32_t kGroups = 6, kItems = 12;  // of a group

// User i has some of the items of group i % kGroups; every seventh user has a single one.
Dataset grouped_users(std::uint32_t users) {
  DatasetArrays arrays;
  for (std::uint32_t user = 0; user < users; ++user) {
    Rng rng(user, Purpose::kTest);
    const std::size_t first = arrays.feature_ids.size();
    for (std::uint32_t item = 0; item < kItems; ++item) {
      if (user % 7 == 0 ? item > 0 : rng.uniform() < 0.5) continue;
      arrays.feature_ids.push_back(user % kGroups * kItems + item);
      arrays.label_ids.push_back(user % kGroups * kItems + item);
    }
    const std::size_t count = arrays.feature_ids.size() - first;
    arrays.feature_values.resize(arrays.feature_ids.size(), 1.0f / std::sqrt(float(count)));
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
    arrays.label_offsets.push_back(arrays.label_ids.size());
  }
  return {std::move(arrays), kGroups * kItems, kGroups * kItems};
}

Config items_config(LossKind loss = LossKind::kSigmoid) {
  LayerConfig output = sampled(0, 10, 20);
  output.wide = true;
  Config config = full_config({dense(8), output});
  config.data.kind = DataKind::kInteractions;
  config.loss.kind = loss;
  config.optimizer.learning_rate = 0.1;
  return config;
}

TEST(Interactions, UsersOfOneItemAreSkipped) {
  const Dataset users = grouped_users(140);
  const Trainer trainer(fresh_job(items_config(), users));
  EXPECT_EQ(trainer.unlabelled(), 20U);
  EXPECT_EQ(trainer.labelled(), 120U);
  EXPECT_EQ(trainer.shape().samples, 140U);
}

TEST(Interactions, AreTheSameOnAnyNumberOfThreads) {
  const Dataset users = grouped_users(200);
  for (const LossKind loss : all_losses()) {
    Config config = items_config(loss);
    config.train.threads = 1;
    const Trace one = train(config, users);
    config.train.threads = 3;
    EXPECT_TRUE(same_bits(one, train(config, users)));
    config.data.mask = 0.3;
    EXPECT_FALSE(same_bits(one, train(config, users)));
  }
}

TEST(Interactions, OtherItemsOfTheGroupAreAnsweredAndKnownOnesAreNot) {
  const Dataset users = grouped_users(300);
  for (const LayerKind kind : {LayerKind::kSampled, LayerKind::kDense}) {
    Config config = items_config();
    config.layers.back().kind = kind;
    config.train.epochs = 12;
    Trainer trainer(fresh_job(config, users));
    trainer.run({});
    InferenceOptions options;
    options.k = 3;
    std::atomic<std::size_t> right{0}, answers{0};  // concurrent callbacks
    Predictor(trainer.trained(), options).predict(users, [&](std::size_t user, auto best) {
      for (const Prediction& one : best) {
        EXPECT_FALSE(std::ranges::binary_search(users.features(user).ids, one.label));
        if (user % 7 == 0) continue;
        ++answers;
        right += one.label / kItems == user % kGroups ? 1 : 0;
      }
    });
    EXPECT_GT(double(right.load()), 0.8 * double(answers.load()));
    options.keep_known = true;
    options.k = kGroups * kItems;
    std::atomic<std::size_t> all{0};
    Predictor(trainer.trained(), options).predict(users.slice(0, 5), [&](std::size_t, auto best) {
      all += best.size();
    });
    EXPECT_EQ(all.load(), 5 * options.k);
  }
}

TEST(Interactions, WhatIsLeftOutFeelsNoGradient) {
  constexpr std::size_t kNeurons = 40, kLanes = 16, kSamples = 3;
  const std::vector<std::vector<std::uint32_t>> labels = {{1, 5}, {2}, {39}}, shown = {{0, 7, 33}, {}, {5}};
  const std::vector<std::span<const std::uint32_t>> of_labels(labels.begin(), labels.end()),
      of_shown(shown.begin(), shown.end());
  ActiveSet set;
  set.set_labels(of_labels, 0, kNeurons);
  set.set_masked(of_shown, 0, kNeurons);
  const BlockTargets targets{&set, kNeurons, kSamples, kLanes};
  TargetPlaces places, masked;
  places.build(targets);
  masked.build_masked(targets);
  std::vector<float> z(kNeurons * kLanes, 0.5f);
  double loss = 0;
  for (std::size_t i = 0; i < slices_of(kNeurons, kSliceNeurons); ++i) {
    const Slice neurons = slice_of(i, kNeurons, kSliceNeurons);
    mask_logits(kLanes, neurons, masked.slice(i), z.data());
    loss += logistic_loss(targets, neurons, places.slice(i), 1.0, 1.0f, z.data());
  }
  const double negative = std::log1p(std::exp(0.5)), positive = std::log1p(std::exp(-0.5));
  EXPECT_NEAR(loss, 4 * positive + (3 * 40 - 4 - 4) * negative, 1e-3);
  for (std::size_t s = 0; s < kSamples; ++s) {
    for (std::uint32_t a = 0; a < kNeurons; ++a) {
      const bool out = std::ranges::binary_search(shown[s], a);
      EXPECT_EQ(z[a * kLanes + s] == 0.0f, out) << a << " of sample " << s;
    }
  }
}

}  // namespace
}  // namespace slide::test
