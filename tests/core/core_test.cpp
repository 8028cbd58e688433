// The core alone trains XMC text end to end: these tests link no guest (--preset core).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "tests/core/train_xmc.h"
#include "tests/expect.h"

namespace slide::core {
namespace {

constexpr std::uint32_t kSamples = 600, kFeatures = 200, kLabels = 60;

// Each label has three features of its own; a sample has two of them and three others.
std::string xmc_text(std::uint64_t seed) {
  std::string text = fmt::format("{} {} {}\n", kSamples, kFeatures, kLabels);
  for (std::uint32_t i = 0; i < kSamples; ++i) {
    Rng rng(seed, Purpose::kTest, 1, i);
    const std::uint32_t label = rng.below(kLabels);
    std::set<std::uint32_t> features = {3 * label, 3 * label + 1 + rng.below(2)};
    while (features.size() < 5) features.insert(rng.below(kFeatures));
    text += std::to_string(label);
    for (const std::uint32_t f : features) text += fmt::format(" {}:1", f);
    text += '\n';
  }
  return text;
}

std::vector<float> weights_of(const Network& network) {
  std::vector<float> all;
  for (const Parameters* matrix : network.matrices())
    all.insert(all.end(), matrix->weights.begin(), matrix->weights.end());
  return all;
}

double trained_precision(const std::vector<std::string>& settings) {
  const Dataset train_rows = read_xmc(xmc_text(1), "train"),
                test = read_xmc(xmc_text(2), "test", &train_rows);
  std::vector<double> losses;
  LoopObserver observer;
  observer.epoch = [&](const EpochReport& report) { losses.push_back(report.loss); };
  const Network network = train(core_config(settings), train_rows, observer);
  EXPECT_LT(losses.back(), losses.front());
  return precision_at_1(network, test);
}

TEST(Core, LearnsWithUniformNegatives) {
  EXPECT_GT(trained_precision({"train.batch_size=32", "train.block_size=16", "layer.1.uniform=20"}), 0.9);
}

TEST(Core, LearnsWithHashTables) {
  EXPECT_GT(trained_precision({"train.batch_size=32", "train.block_size=16", "layer.1.uniform=10",
                               "layer.1.lsh=10", "layer.1.init_scale=1"}),
            0.9);
}

TEST(Core, LearnsBySoftmaxAndAdam) {
  EXPECT_GT(trained_precision({"train.batch_size=32", "train.block_size=16", "layer.1.uniform=20",
                               "loss.kind=softmax", "optimizer.kind=adam", "optimizer.learning_rate=0.01"}),
            0.85);
}

TEST(Core, TrainsTheSameNetworkOnAnyNumberOfThreads) {
  const Dataset rows = read_xmc(xmc_text(1), "train");
  const std::vector<std::string> settings = {"train.epochs=2", "train.batch_size=64", "train.block_size=16",
                                             "layer.1.uniform=20"};
  std::vector<std::vector<float>> trained;
  for (const char* threads : {"train.threads=1", "train.threads=3"}) {
    std::vector<std::string> all = settings;
    all.emplace_back(threads);
    trained.push_back(weights_of(train(core_config(all), rows, {})));
  }
  EXPECT_EQ(trained[0], trained[1]);
}

TEST(Core, RefusesConfigurationsThatWantAGuest) {
  const Dataset rows = read_xmc(xmc_text(1), "train");
  for (const char* guest : {"layer.-1.wide=true", "data.crosses=8", "data.idf_power=0.5",
                            "neighbours.share=0.1", "train.shards=2"})
    EXPECT_THROW(fresh_network(core_config({guest}), rows, 1), InputError) << guest;
}

TEST(Core, NamesTheLineOfAFault) {
  const std::string error = input_error([] { read_xmc("1 3 2\n0 7:1\n", "bad.txt"); });
  EXPECT_TRUE(error.starts_with("bad.txt:2")) << error;
}

}  // namespace
}  // namespace slide::core
