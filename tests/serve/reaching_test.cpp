// POST /predict with a threshold, and with features that the model does not know.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/serve/serve_fixture.h"

namespace slide::test {
namespace {

class PredictReachingTest : public ServeTest {};

// As many labels as `slide predict --threshold` gives, whatever --k of the server is.
TEST_F(PredictReachingTest, AThresholdAloneGivesAllLabelsAboveIt) {
  ServerProcess server = serve("ids", {"--k", "2"});
  Client client = server.client();
  for (const std::string threshold : {"0", "0.001", "0.3", "0.9"}) {
    std::istringstream expected(
        run({"predict", "ids/model.slide", "data/test.txt", "--threshold", threshold}).out);
    Json all = {{"inputs", Json::array()}, {"threshold", std::stod(threshold)}};
    for (const std::string& line : lines()) all["inputs"].push_back({{"features", features_of(line)}});
    const Json together = client.predict(all).json();
    std::size_t sample = 0;
    for (std::string line; std::getline(expected, line); ++sample) {
      expect_same(together["results"].at(sample)["predictions"], line, ' ', "id");
      if (threshold == "0") {
        EXPECT_EQ(together["results"].at(sample)["predictions"].size(), 60u);
      }
    }
    EXPECT_EQ(sample, 40u);
  }
  const Json features = features_of(lines().front());
  EXPECT_EQ(client.predict({{"features", features}, {"threshold", 0}}).json()["predictions"].size(), 60u);
  EXPECT_EQ(client.predict({{"features", features}, {"threshold", 0}, {"k", 3}}).json()["predictions"].size(),
            3u);
  EXPECT_EQ(client.predict({{"features", features}}).json()["predictions"].size(), 2u);
  Json two = {{"inputs", Json::array({{{"features", features}}, {{"features", features}}})},
              {"threshold", 0},
              {"explain", 1}};
  const Answer refused = client.predict(two);
  EXPECT_EQ(refused.code, 400u);
  EXPECT_TRUE(contains(refused.body, "threshold with explain: 120 labels reach it"));
}

// As `slide predict` does.
TEST_F(PredictReachingTest, FeaturesThatTheModelDoesNotKnowAreLeftOutAndTold) {
  ServerProcess server = serve("ids");
  Client client = server.client();
  const Json known = client.predict({{"features", {{"3", 1}}}}).json();
  EXPECT_FALSE(known.contains("unknown_features"));
  const Json more = client.predict({{"features", {{"3", 1}, {"120", 1}, {"4000000000", 2}}}}).json();
  EXPECT_EQ(more["unknown_features"], 2);
  EXPECT_EQ(more["predictions"], known["predictions"]);
}

// So are words, and samples of which nothing is known, whose answer is what most samples have.
TEST_F(PredictReachingTest, SamplesWithoutAKnownFeatureAreTold) {
  ServerProcess server = serve("text");
  Client client = server.client();
  const Json known = client.predict({{"text", "bread"}}).json();
  EXPECT_FALSE(known.contains("unknown_features") || known.contains("samples_without_features")) << known;
  const Json unknown = client.predict({{"text", "qqqqqq"}}).json();
  EXPECT_GE(unknown["unknown_features"], 1) << unknown;
  EXPECT_EQ(unknown["samples_without_features"], 1);
  EXPECT_FALSE(client.predict({{"text", ""}}).json().contains("unknown_features"));
  const Json new_order = client.predict({{"text", "bread tulips choir"}}).json();  // n-grams do not count
  EXPECT_FALSE(new_order.contains("unknown_features")) << new_order;
  EXPECT_EQ(client.predict({{"text", "bread qqqqqq choir"}}).json()["unknown_features"], 1);
  const Json several = client.predict({{"inputs", {"", "bread", "qqqqqq"}}}).json();
  EXPECT_EQ(several["samples_without_features"], 2) << several;
  EXPECT_EQ(serve("ids").client().predict({{"features", Json::object()}}).json()["samples_without_features"],
            1);
}

// A model with thresholds answers without further keys as `slide predict` does.
TEST_F(PredictReachingTest, ThresholdsOfTheModelDecide) {
  write_file(slide_->path("thresholds.json"),
             R"({"threshold":0.05,"labels":[{"id":1,"threshold":0.01},{"id":2,"threshold":0.4}]})");
  run({"convert", "ids", "decided.slide", "--threshold", "thresholds.json"});
  ServerProcess server(folder(), {"decided.slide"});
  Client client = server.client();
  std::istringstream expected(run({"predict", "decided.slide", "data/test.txt"}).out);
  const Strings samples = lines();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    std::string line;
    std::getline(expected, line);
    expect_same(client.predict({{"features", features_of(samples[i])}}).json()["predictions"], line, ' ',
                "id");
  }
  const Json features = features_of(samples.front());
  EXPECT_EQ(client.predict({{"features", features}, {"k", 9}}).json()["predictions"].size(), 9u);
  EXPECT_EQ(client.predict({{"features", features}, {"scores", "logit"}}).json()["predictions"].size(), 5u);
  // As of `slide predict`, a given --k takes their place.
  ServerProcess of_two(folder(), {"decided.slide", "--k", "2"});
  std::istringstream two(run({"predict", "decided.slide", "data/test.txt", "--k", "2"}).out);
  std::string line;
  std::getline(two, line);
  expect_same(of_two.client().predict({{"features", features}}).json()["predictions"], line, ' ', "id");
}

}  // namespace
}  // namespace slide::test
