// Tests of sharding: the division of a network, the choices of each shard, and a process's part of a row.
#include "engine/network/network_parts.h"
#include "engine/crosses/feature_transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "engine/wide/network_start.h"
#include "tests/expect.h"
#include "tests/network/network_test_util.h"

namespace slide::test {
namespace {

using Ids = std::vector<std::uint32_t>;

Dataset parts_data() {
  DataSpec spec;
  spec.samples = 90, spec.features = 150, spec.labels = 100, spec.entries = 12, spec.unlabelled = 7,
  spec.featureless = 11;
  return make_data(spec);
}

Config parts_config(std::uint32_t parts, std::vector<LayerConfig> layers) {
  Config config = make_config(std::move(layers), 48, 16);
  config.train.shards = parts;
  return config;
}

TEST(NetworkParts, EveryNeuronAndFeatureIsInOnePart) {
  const Dataset data = parts_data();
  for (const std::uint32_t count : {1, 2, 3, 7, 100}) {
    for (const std::size_t ranks : {1, 2, 3}) {
      if (ranks > count) continue;
      std::size_t neurons = 0, features = 0, parts = 0;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const NetworkParts own = parts_for(parts_config(count, {dense(8), dense(0)}), data, 100, rank, ranks);
        ASSERT_EQ(own.count(), count);
        ASSERT_EQ(own.split(), count > 1);
        EXPECT_EQ(own.own.first, parts);
        EXPECT_GT(own.own.count, 0u);
        EXPECT_EQ(own.own_neurons().first, neurons);
        EXPECT_EQ(own.own_features().first, features);
        std::size_t rows = 0;
        for (const LayerPart& part : own.of_layer()) {
          EXPECT_EQ(part.neurons.first, rows);
          EXPECT_EQ(part.number, parts++);
          EXPECT_EQ(part.of, count);
          EXPECT_GE(part.neurons.count, 100 / count);
          EXPECT_LE(part.neurons.count, 100 / count + 1);
          rows = part.neurons.end();
        }
        EXPECT_EQ(rows, own.own_neurons().count);
        neurons = own.own_neurons().end(), features = own.own_features().end();
      }
      EXPECT_EQ(parts, count);
      EXPECT_EQ(neurons, 100u);
      EXPECT_EQ(features, 150u);
    }
  }
}

TEST(NetworkParts, SharesAddUp) {
  for (const std::uint32_t of : {1u, 2u, 3u, 7u, 65536u}) {
    for (const std::uint32_t all : {0u, 1u, 2u, 512u, 1'000'003u, UINT32_MAX}) {
      std::uint64_t sum = 0;
      std::uint32_t least = UINT32_MAX, most = 0;
      for (std::uint32_t p = 0; p < of; ++p) {
        const std::uint32_t share = LayerPart{{}, p, of}.share(all);
        sum += share, least = std::min(least, share), most = std::max(most, share);
      }
      EXPECT_EQ(sum, all) << of;
      EXPECT_LE(most - least, 1u) << all << " among " << of;
    }
  }
}

void expect_refused(std::uint32_t parts, std::size_t neurons, std::size_t ranks, const std::string& what) {
  EXPECT_TRUE(
      contains(input_error([&] {
                 parts_for(parts_config(parts, {dense(8), dense(0)}), parts_data(), neurons, 0, ranks);
               }),
               what));
}

TEST(NetworkParts, MoreThanThereIsToShareAreRefused) {
  expect_refused(11, 10, 1, "train.shards = 11 is more than the 10 output neurons");
  expect_refused(4, 10, 5, "5 processes cannot share a network of train.shards = 4");
  EXPECT_NO_THROW(parts_for(parts_config(10, {dense(0)}), parts_data(), 10, 9, 10));
}

// A process's rows of a block equal its features of the scaled samples.
TEST(NetworkParts, AProcessHasTheFeaturesOfItsPartsOfARow) {
  const Dataset data = parts_data();
  for (const double idf : {0.0, 1.0}) {
    Config config = parts_config(5, {dense(8), dense(0)});
    config.data.idf_power = idf;
    for (std::size_t rank = 0; rank < 3; ++rank) {
      Network network(config, shape_of_data(data), parts_for(config, data, data.label_count(), rank, 3));
      set_scale(network, FeatureScale(data, idf, config.data.normalize));
      const Slice own = network.parts().own_features();
      EXPECT_EQ(network.input()->features(), own.count);
      Block block;
      block.split = true;
      block.values.reserve(1000), block.own_ids.reserve(1000);
      for (std::size_t i = 0; i < 40; ++i) network.add_crossed(data.features(i), block);
      ASSERT_EQ(block.entered().size(), 40u);
      for (std::size_t i = 0; i < 40; ++i) {
        Ids ids;
        std::vector<float> values;
        const SparseRow row = block.rows[i], got = block.entered()[i];
        for (std::size_t k = 0; k < row.ids.size(); ++k) {
          if (row.ids[k] < own.first || row.ids[k] >= own.end()) continue;
          ids.push_back(static_cast<std::uint32_t>(row.ids[k] - own.first));
          values.push_back(row.values[k]);
        }
        EXPECT_EQ(Ids(got.ids.begin(), got.ids.end()), ids) << "rank " << rank << ", sample " << i;
        EXPECT_EQ(std::vector<float>(got.values.begin(), got.values.end()), values);
      }
    }
  }
}

TEST(NetworkParts, AWholeProcessTakesRowsAsTheyAre) {
  const Dataset data = parts_data();
  Network network = parted_network(parts_config(5, {dense(8), dense(0)}), data);
  NetworkTraining training(network, data, {48, 1, 1});
  Block& block = training.block(0);
  EXPECT_FALSE(block.split);
  network.add_crossed(data.features(0), block);
  EXPECT_EQ(block.entered().data(), block.rows.data());
}

// ---- choices of shards ----

Ids labels_within(const Block& block, Slice neurons) {
  std::set<std::uint32_t> within;
  for (const auto& labels : block.labels) {
    for (const std::uint32_t label : labels) {
      if (label >= neurons.first && label < neurons.end()) within.insert(label);
    }
  }
  return {within.begin(), within.end()};
}

// The labels of each sample are at the stated positions, and all labels of a block in some shard.
void expect_labels_in_place(const Block& block, const Layer& output, std::size_t first_layer) {
  for (std::size_t s = 0; s < block.samples(); ++s) {
    Ids found;
    for (std::size_t p = 0; p < output.parts(); ++p) {
      const LayerBlock& at = block.layers[first_layer + p];
      for (const std::uint32_t position : at.set.labels_of(s))
        found.push_back(at.all ? static_cast<std::uint32_t>(at.first + position) : at.set.ids.at(position));
    }
    EXPECT_EQ(found, Ids(block.labels[s].begin(), block.labels[s].end())) << "sample " << s;
  }
}

// Ids of a shard: its own neurons, each once, its labels and its share of each source.
void expect_part(const Block& block, const LayerBlock& at, const Layer& output, std::size_t part) {
  const Slice own = output.neurons(part);
  const LayerPart& share = output.shape().parts[part];
  const LayerConfig& config = output.config();
  const Ids labels = labels_within(block, own);
  const std::set<std::uint32_t> ids(at.set.ids.begin(), at.set.ids.end());
  ASSERT_EQ(ids.size(), at.set.ids.size());
  ASSERT_EQ(at.count, ids.size());
  ASSERT_GE(*ids.begin(), own.first);
  ASSERT_LT(*ids.rbegin(), own.end());
  for (const std::uint32_t label : labels) EXPECT_TRUE(ids.contains(label)) << label;
  const std::size_t uniform = share.share(config.uniform);
  const std::size_t known = ids.size() - uniform;
  EXPECT_GE(known, labels.size());
  EXPECT_LE(known, labels.size() + share.share(config.lsh) + share.share(config.frequency));
  if (config.lsh > 0) {
    EXPECT_GT(known, labels.size());
  }
  ASSERT_EQ(at.set.correction.size(), ids.size());
  for (std::size_t a = 0; a < ids.size(); ++a) {
    const double stands_for = a < known ? 0.0 : std::log(double(own.count - known) / double(uniform));
    ASSERT_NEAR(at.set.correction[a], stands_for, 1e-6);
  }
}

TEST(PartChoice, EachShardTakesItsLabelsAndItsShareOfTheNegatives) {
  const Dataset data = parts_data();
  LayerConfig frequent = sampled(0, 12, 14);
  frequent.frequency = 8;
  for (const LayerConfig& layer : {sampled(0, 0, 14), sampled(0, 12, 14), frequent}) {
    for (const bool hidden : {true, false}) {
      for (const std::uint32_t parts : {1, 3, 4}) {
        SCOPED_TRACE(std::to_string(parts) + " parts");
        std::vector<LayerConfig> layers{layer};
        if (hidden) layers.insert(layers.begin(), dense(8, Activation::kTanh));
        const Config config = parts_config(parts, layers);
        Network network = start_network(config, data, shape_of_data(data), 1);
        Stepper stepper(network, data);
        for (std::uint64_t step = 0; step < 3; ++step) {
          stepper.train(0, 45, step);
          for (const Block& block : stepper.blocks()) {
            ASSERT_EQ(block.layers.size(), parts);
            for (std::size_t p = 0; p < parts; ++p) expect_part(block, block.layers[p], network.output(), p);
            expect_labels_in_place(block, network.output(), 0);
          }
        }
      }
    }
  }
}

TEST(PartChoice, PartsOfADenseLayerCoverIt) {
  const Dataset data = parts_data();
  Network network = start_network(parts_config(3, {dense(8), dense(0)}), data, shape_of_data(data), 1);
  Stepper stepper(network, data);
  stepper.train(0, 45, 0);
  for (const Block& block : stepper.blocks()) {
    std::size_t next = 0;
    for (const LayerBlock& part : block.layers) {
      EXPECT_TRUE(part.all);
      EXPECT_EQ(part.first, next);
      next += part.count;
    }
    EXPECT_EQ(next, 100u);
    expect_labels_in_place(block, network.output(), 0);
  }
}

TEST(PartChoice, PartsDrawForThemselves) {
  const Dataset data = parts_data();
  Network network = start_network(parts_config(2, {sampled(0, 0, 40)}), data, shape_of_data(data), 1);
  Stepper stepper(network, data);
  stepper.train(6, 1, 0);  // without labels
  const Block& block = stepper.blocks().front();
  Ids second = block.layers[1].set.ids;
  for (std::uint32_t& id : second) id -= 50;
  EXPECT_EQ(second.size(), 20u);
  EXPECT_NE(block.layers[0].set.ids, second);
}

// A shard may have no label of any sample.
TEST(PartChoice, SamplesByFrequencyInAShardOfLabelsWithoutSamples) {
  std::vector<Sample> samples(20);
  for (std::uint32_t i = 0; i < samples.size(); ++i) samples[i] = {{{i % 5, 1.0f}}, {i % 10}};
  const Dataset data = dataset_of(samples, 30, 40);
  LayerConfig layer = sampled(0, 0, 0);
  layer.frequency = 12;
  for (const std::uint32_t uniform : {0u, 8u}) {
    layer.uniform = uniform;
    Network network = start_network(parts_config(4, {dense(8), layer}), data, shape_of_data(data), 1);
    Stepper stepper(network, data);
    EXPECT_TRUE(std::isfinite(stepper.train(0, 16, 0)));
    for (const LayerBlock& part : stepper.blocks().front().layers) {
      for (const float correction : part.set.correction) EXPECT_TRUE(std::isfinite(correction));
    }
  }
}

}  // namespace
}  // namespace slide::test
