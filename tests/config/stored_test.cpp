// Stored configurations keep their meaning when keys are added, renamed or removed.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/config/config.h"
#include "engine/config/fields.h"
#include "engine/config/parse.h"
#include "tests/expect.h"

namespace slide {
namespace {

using Strings = std::vector<std::string>;

Config parse_quietly(const std::string& text) {
  Strings notes;
  const Config config = parse_stored_config(text, "model", notes);
  EXPECT_EQ(notes, Strings{});
  return config;
}

// The text without the line of `key` in each section `heading`.
std::string without(const std::string& text, const std::string& heading, const std::string& key) {
  std::string left, section;
  std::size_t removed = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    const std::string line = text.substr(at, end - at);
    if (line.starts_with('[')) section = line.substr(0, line.size() - 1);
    if (section == heading && line.starts_with(key + " ")) {
      ++removed;
    } else {
      left += line;
    }
    at = end;
  }
  EXPECT_GT(removed, 0u) << heading << key;
  return left;
}

TEST(Stored, RoundTrips) {
  const std::string text = to_toml(parse_config("[train]\nepochs = 77\n[[layer]]\n", "x"));
  EXPECT_EQ(to_toml(parse_quietly(text)), text);
}

TEST(Stored, UnknownKeysAreToldAndLeftOut) {
  const std::string text = to_toml(Config());
  Strings notes;
  const Config config = parse_stored_config(
      "top = 1\n" + text + "later = [1]\n[train.sub]\na = 1\n[new]\n\"k\\ney\" = 3\n", "model", notes);
  EXPECT_EQ(to_toml(config), text);
  EXPECT_EQ(notes, (Strings{"model: 'top' is no key that this version knows; it is left out",
                            "model: 'train.sub.a' is no key that this version knows; it is left out",
                            "model: 'layer.1.hash.later' is no key that this version knows; it is left out",
                            "model: 'new.k ey' is no key that this version knows; it is left out"}));
}

TEST(Stored, KeysThatDidNotExistYetMeanWhatWasDoneBefore) {
  const std::string text = to_toml(Config());
  Config defaults;
  int added = 0;
  for (const config::Section& section : config::all_sections(defaults)) {
    for (const config::Field& field : section.fields) {
      if (field.before.empty()) continue;
      Config read = parse_quietly(without(text, section.heading, std::string(field.key)));
      const auto found = config::find_field(read, section.name + "." + std::string(field.key));
      EXPECT_EQ(config::value_text(*found), field.before) << section.name << field.key;
      ++added;
    }
  }
  EXPECT_GT(added, 25);
}

// Configurations stored before linear-term weights, neighbours, text, ... existed: models without them.
TEST(Stored, TheFirstModelsHadNoneOfTheLaterParts) {
  Config defaults;
  std::string text = to_toml(defaults);
  std::set<std::string> done;
  for (const config::Section& section : config::all_sections(defaults)) {
    for (const config::Field& field : section.fields) {
      const std::string key(field.key);
      if (!field.before.empty() && done.insert(section.heading + key).second)
        text = without(text, section.heading, key);
    }
  }
  const Config read = parse_quietly(text);
  EXPECT_EQ(read.neighbours.share, 0.0);
  EXPECT_EQ(read.data.idf_power, 0.0);
  EXPECT_EQ(read.loss.gradient_threshold, 0.0);
  EXPECT_EQ(read.train.weights, Precision::kFp32);
  for (const LayerConfig& layer : read.layers) {
    EXPECT_FALSE(layer.wide);
    EXPECT_EQ(layer.hash.rehash_share, 1.0);
  }
  EXPECT_EQ(read.loss.kind, defaults.loss.kind);
}

// Models of the time when hidden layers could be sampled are read, and settings over their configurations.
TEST(Stored, HiddenLayersMayBeSampled) {
  Config sampled;
  sampled.layers = default_layers(2);
  sampled.layers[0].kind = LayerKind::kSampled;
  const Config read = parse_quietly(to_toml(sampled));
  EXPECT_EQ(read.layers[0].kind, LayerKind::kSampled);
  const Config over = parse_config("", "the settings", {"eval.k=[3]"}, read);
  EXPECT_EQ(over.layers[0].kind, LayerKind::kSampled);
}

// A new key states in Field::before the meaning of configurations without it.
TEST(Stored, OnlyKeysOfTheFirstModelsHaveNothingBefore) {
  const std::map<std::string, std::set<std::string>> first = {
      {"[data]", {"train", "test", "format", "one_based", "normalize", "train_first", "test_last"}},
      {"[text]", {}},
      {"[train]",
       {"epochs", "batch_size", "block_size", "seed", "threads", "deterministic", "shuffle", "eval_every",
        "save_optimizer"}},
      {"[optimizer]",
       {"kind", "learning_rate", "schedule", "warmup_steps", "momentum", "beta1", "beta2", "epsilon",
        "weight_decay"}},
      {"[loss]", {"kind", "positive_weight"}},
      {"[eval]", {"k", "inference", "candidates", "propensity_a", "propensity_b"}},
      {"[neighbours]", {}},
      {"[[layer]]",
       {"size", "kind", "activation", "dropout", "lsh", "uniform", "frequency", "logq_correction"}},
      {"[layer.hash]",
       {"family", "k", "tables", "bin_size", "range_pow", "bucket_capacity", "bucket_policy", "candidates",
        "threshold", "topk_ratio", "asymmetric", "rehash_steps", "rebuild_steps", "interval_growth"}}};
  Config config;
  std::map<std::string, std::set<std::string>> found;
  for (const config::Section& section : config::all_sections(config)) {
    found[section.heading];
    for (const config::Field& field : section.fields) {
      if (field.before.empty()) found[section.heading].insert(std::string(field.key));
    }
  }
  EXPECT_EQ(found, first);
}

TEST(Stored, AnyOtherKeyThatIsMissingIsTold) {
  Strings notes;
  const std::string text = without(without(to_toml(Config()), "[train]", "epochs"), "[[layer]]", "size");
  EXPECT_EQ(to_toml(parse_stored_config(text, "model", notes)), to_toml(Config()));
  EXPECT_EQ(notes, (Strings{"model: 'train.epochs' is missing; it is taken as 7",
                            "model: 'layer.0.size' is missing; it is taken as 128",
                            "model: 'layer.1.size' is missing; it is taken as 0"}));
}

TEST(Stored, OldNamesAreThoseOfTodaysKeys) {
  const config::Renamed renamed[] = {{"train.rounds", "train.epochs"},
                                     {"layer.fraction", "layer.dropout"},
                                     {"layer.hash.bits", "layer.hash.k"},
                                     {"layer.loss", "loss.kind"},
                                     {"old.prior", "loss.prior"}};
  std::string text = to_toml(Config());
  text = without(without(without(text, "[train]", "epochs"), "[loss]", "kind"), "[loss]", "prior");
  text = without(without(text, "[[layer]]", "dropout"), "[layer.hash]", "k");
  text += "bits = 5\n[old]\nprior = 0.7\n";
  text.insert(text.find("[train]\n") + 8, "rounds = 9\n");
  text.insert(text.find("[[layer]]\n") + 10, "fraction = 0.5\nloss = \"softmax\"\n");
  text.insert(text.find("[layer.hash]\n") + 13, "bits = 6\n");
  Strings notes;
  const Config config = config::parse_stored(text, "model", renamed, notes);
  EXPECT_EQ(config.train.epochs, 9u);
  EXPECT_EQ(config.loss.kind, LossKind::kSoftmax);
  EXPECT_EQ(config.loss.prior, 0.7);
  EXPECT_EQ(config.layers[0].dropout, 0.5);
  EXPECT_EQ(config.layers[0].hash.k, 6u);
  EXPECT_EQ(config.layers[1].hash.k, 5u);
  EXPECT_EQ(notes, Strings{"model: 'layer.1.dropout' is missing; it is taken as 0.0"});
}

TEST(Stored, EveryOldNameLeadsToAKey) {
  Config config;
  for (const config::Renamed& name : config::renamed_keys()) {
    std::string present(name.is);
    if (present.starts_with("layer.")) present.insert(5, ".0");
    EXPECT_TRUE(config::find_field(config, present)) << name.was;
  }
}

TEST(Stored, WhatCannotBeMeantIsRefused) {
  const auto refusal = [](const std::string& stored) {
    Strings notes;
    const std::string error = input_error([&] { parse_stored_config(stored, "model", notes); });
    EXPECT_EQ(notes, Strings{});
    return error;
  };
  EXPECT_EQ(refusal("[train\n").substr(0, 8), "model:1:");
  EXPECT_EQ(refusal(""), "model: there is no layer; add at least one [[layer]] table");
  EXPECT_EQ(refusal("[train]\nunknown = 1\nepochs = \"many\"\n"),
            "model:3: 'train.epochs' must be an integer in 1..1000000, not \"many\"");
  EXPECT_EQ(refusal("[train]\nepochs = 0\n[[layer]]\n"),
            "model:2: 'train.epochs' must be an integer in 1..1000000, not 0");
  EXPECT_TRUE(contains(refusal("[train]\nblock_size = 24\n[[layer]]\n"), "multiple of 16"));
}

TEST(Stored, MissingFile) {
  Strings notes;
  EXPECT_THROW(load_stored_config("/nonexistent/config.toml", notes), InputError);
}

}  // namespace
}  // namespace slide
