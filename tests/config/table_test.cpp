// Tests of the table of keys: the resolved file, the reference, and completeness of the table.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/config/config.h"
#include "engine/config/fields.h"
#include "engine/config/reference.h"
#include "engine/config/spellings.h"
#include "tests/expect.h"

namespace slide {
namespace {

const std::string kLayers =
    "[train]\nepochs = 5\n[[layer]]\nsize = 128\n[[layer]]\nkind = \"sampled\"\n[layer.hash]\nk = "
    "6\nrange_pow = 9\n";

Config parse(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return parse_config(text, "run.toml", overrides);
}

TEST(ToToml, RoundTrips) {
  const Config config = parse(
      "[optimizer]\nlearning_rate = 0.1\nepsilon = 1e-20\nweight_decay = 0.30000000000000004\n" + kLayers,
      {"data.train=a \"b\" \\ \t c\x7f", "eval.k=[1,9]", "layer.1.hash.family=minhash", "layer.1.hash.k=2",
       "train.seed=9223372036854775807"});
  const std::string text = to_toml(config);
  const Config again = parse(text);
  EXPECT_EQ(to_toml(again), text);
  EXPECT_EQ(again.data.train, config.data.train);
  EXPECT_EQ(again.optimizer.weight_decay, 0.30000000000000004);
  EXPECT_EQ(again.optimizer.epsilon, 1e-20);
  EXPECT_EQ(again.layers[1].hash.family, HashFamily::kMinhash);
}

TEST(ToToml, EveryChoiceRoundTrips) {
  Config config = parse(kLayers);
  for (LayerConfig& layer : config.layers) layer.hash.range_pow = 24;  // enough for every family
  for (config::Section& section : config::all_sections(config)) {
    for (config::Field& field : section.fields) {
      const auto* choice = std::get_if<config::Choice>(&field.value);
      const std::size_t before = choice != nullptr ? choice->get(choice->member) : 0;
      for (std::size_t i = 0; choice != nullptr && i < choice->names.size(); ++i) {
        choice->set(choice->member, i);
        const std::string text = to_toml(config);
        EXPECT_TRUE(contains(text, config::quote(choice->names[i])));
        std::vector<std::string> notes;
        EXPECT_EQ(to_toml(parse_stored_config(text, "stored", notes)), text);
      }
      if (choice != nullptr) choice->set(choice->member, before);
    }
  }
}

TEST(ToToml, TestsByTimeRoundTrip) {
  const auto stored = [](const std::vector<std::string>& overrides) {
    const Config config = parse(kLayers, overrides);
    std::vector<std::string> notes;
    const Config again = parse_stored_config(to_toml(config), "stored", notes);
    EXPECT_EQ(again.data.test_newest, config.data.test_newest);
    EXPECT_EQ(again.data.test_after, config.data.test_after);
    return again.data;
  };
  EXPECT_EQ(stored({"data.test_newest=true"}).test_newest, (TestNewest{1, 0}));
  EXPECT_EQ(stored({"data.test_newest=false"}).test_newest, TestNewest());
  EXPECT_EQ(stored({"data.test_newest=3"}).test_newest, (TestNewest{3, 0}));
  EXPECT_EQ(stored({"data.test_newest=0.25"}).test_newest, (TestNewest{0, 0.25}));
  EXPECT_THROW(stored({"data.test_newest=1.0"}), InputError);
  EXPECT_THROW(stored({"data.test_newest=-1"}), InputError);
  EXPECT_THROW(stored({"data.test_newest=most"}), InputError);
  const auto after = [&](const std::string& text) {
    return stored({"data.time=when", "data.test_after=" + text}).test_after;
  };
  EXPECT_EQ(after("2024-06-01"), "2024-06-01");
  EXPECT_EQ(after("1700000000"), "1700000000");
  EXPECT_EQ(after("2024-06-01T10:00:00Z"), "2024-06-01T10:00:00Z");
  EXPECT_EQ(after("\"2024-06-01\""), "2024-06-01");
  EXPECT_EQ(parse("[data]\ntime = \"when\"\ntest_after = 2024-06-01\n" + kLayers).data.test_after,
            "2024-06-01");
  EXPECT_THROW(after("[1]"), InputError);
  EXPECT_THROW(stored({"data.test_after=2024-06-01", "data.time=order"}), InputError);
  EXPECT_THROW(stored({"data.test_after=2024-06-01", "data.time=when", "data.test=t.txt"}), InputError);
}

TEST(ToToml, CommentsEveryKey) {
  const std::string text = to_toml(parse(kLayers));
  EXPECT_TRUE(contains(text, "epochs = 5                      # Passes over the training file.\n"));
  EXPECT_TRUE(contains(text, "(sgd, momentum, adagrad, adam)"));
}

TEST(Reference, HasEveryKey) {
  const std::string text = config_reference();
  Config config;
  for (const config::Section& section : config::plain_sections(config)) {
    EXPECT_TRUE(contains(text, "## `" + section.heading + "`"));
    for (const config::Field& field : section.fields) {
      EXPECT_TRUE(contains(text, "| `" + std::string(field.key) + "` |")) << field.key;
    }
  }
  EXPECT_TRUE(contains(text, "| `epochs` | integer | `7` | 1..1000000 | Passes over the training file. |"));
  EXPECT_TRUE(contains(text, "## `[layer.hash]`"));
}

// Converts to any type: counts the members of an aggregate, to detect one that the tables lack.
struct Anything {
  template <class T>
  operator T() const {
    return T{};
  }
};

template <class T, class... Members>
constexpr std::size_t count_members() {
  if constexpr (requires { T{Members{}..., Anything{}}; }) {
    return count_members<T, Members..., Anything>();
  } else {
    return sizeof...(Members);
  }
}

TEST(Fields, DescribeEveryMember) {
  Config config;
  const auto plain = config::plain_sections(config);
  EXPECT_EQ(plain.at(0).fields.size(), count_members<DataConfig>());
  EXPECT_EQ(plain.at(1).fields.size(), count_members<TextOptions>());
  EXPECT_EQ(plain.at(2).fields.size(), count_members<TrainConfig>());
  EXPECT_EQ(plain.at(3).fields.size(), count_members<OptimizerConfig>());
  EXPECT_EQ(plain.at(4).fields.size(), count_members<LossConfig>());
  EXPECT_EQ(plain.at(5).fields.size(), count_members<EvalConfig>());
  EXPECT_EQ(plain.size() + 1, count_members<Config>());
  LayerConfig layer;
  const auto layers = config::layer_sections(layer, "layer");
  EXPECT_EQ(layers.at(0).fields.size() + 1, count_members<LayerConfig>());
  EXPECT_EQ(layers.at(1).fields.size(), count_members<HashConfig>());
}

TEST(Spellings, GoBothWays) {
  EXPECT_EQ(spelling(HashFamily::kDwta), "dwta");
  EXPECT_EQ(from_spelling<HashFamily>("dwta"), HashFamily::kDwta);
  EXPECT_EQ(from_spelling<Inference>("lsh"), Inference::kLsh);
  EXPECT_EQ(from_spelling<Inference>("LSH"), std::nullopt);
  EXPECT_EQ(spellings_of(DataFormat::kNpz).size(), 10u);
  EXPECT_EQ(spelling(DataFormat::kNpz), "npz");
}

}  // namespace
}  // namespace slide
