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
  EXPECT_NE(refused.body.find("threshold with explain: 120 labels reach it"), std::string::npos)
      << refused.body;
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

}  // namespace
}  // namespace slide::test
