// `eval.inference = "auto"` from outside: commands and server give the same answers, and say by what.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/serve/serve_fixture.h"

namespace slide::test {
namespace {

class AutoInferenceTest : public ServeTest {
 protected:
  // Models of as many labels as tables are taken for, and of one less.
  static void SetUpTestSuite() {
    slide_ = new Program;
    for (const std::string labels : {"100000", "99999"}) {
      run({"generate", "--samples", "300", "--features", "120", "--labels", labels, "--test-samples", "40",
           "--out", "d" + labels});
      run({"train", "d" + labels + "/train.txt", "--test", "d" + labels + "/test.txt", "--epochs", "1",
           "--set", "layer.0.size=16", "layer.-1.init_scale=1.0", "neighbours.share=0.0", "--out", labels});
    }
  }
  static std::string answers(const std::string& labels, Strings more) {
    more.insert(more.begin(), {"predict", labels, "d" + labels + "/test.txt"});
    return run(more).out;
  }
  static Json tested(const std::string& labels, Strings more = {}) {
    more.insert(more.begin(), {"test", labels, "d" + labels + "/test.txt", "--json"});
    return Json::parse(run(more).out);
  }
  static Json inspected(const std::string& labels) {
    return Json::parse(run({"inspect", labels, "--json"}).out);
  }
};

TEST_F(AutoInferenceTest, TestAndInspectSayByWhat) {
  EXPECT_EQ(tested("100000")["inference"], "lsh");
  EXPECT_EQ(tested("100000", {"--inference", "full"})["inference"], "full");
  EXPECT_EQ(tested("100000", {"--k", "1,100"})["inference"], "full");
  EXPECT_EQ(tested("99999")["inference"], "full");
  EXPECT_EQ(tested("99999", {"--inference", "lsh"})["inference"], "lsh");
  EXPECT_EQ(inspected("100000")["inference"], "lsh");
  EXPECT_EQ(inspected("99999")["inference"], "full");
  EXPECT_EQ(inspected("99999")["inference_asked"], "auto");
  EXPECT_TRUE(contains(run({"inspect", "100000"}).out, "eval.inference     auto: lsh"));
}

TEST_F(AutoInferenceTest, CommandsAnswerAsWhatItStandsFor) {
  EXPECT_EQ(answers("100000", {}), answers("100000", {"--inference", "lsh"}));
  EXPECT_EQ(answers("99999", {}), answers("99999", {"--inference", "full"}));
  EXPECT_EQ(answers("100000", {"--k", "100"}), answers("100000", {"--k", "100", "--inference", "full"}));
  const Json automatic = tested("100000"), tables = tested("100000", {"--inference", "lsh"});
  EXPECT_EQ(automatic["p_at_5"], tables["p_at_5"]);
}

TEST_F(AutoInferenceTest, TheServerAnswersTheSameAndSaysByWhat) {
  for (const auto& [labels, by] : {std::pair<std::string, std::string>{"100000", "lsh"}, {"99999", "full"}}) {
    ServerProcess server = serve(labels);
    Client client = server.client();
    const Json health = client.ask("GET", "/health").json();
    EXPECT_EQ(health["inference"], by);
    EXPECT_EQ(health["inference_asked"], "auto");
    EXPECT_TRUE(contains(client.ask("GET", "/metrics").body, "inference=\"" + by + "\""));
    std::istringstream file(read_file(slide_->path("d" + labels + "/test.txt"))), lines(answers(labels, {}));
    std::string sample, line;
    std::getline(file, sample);
    for (int i = 0; i < 10 && std::getline(file, sample) && std::getline(lines, line); ++i) {
      const Json features = features_of(sample);
      expect_same(client.predict({{"features", features}}).json()["predictions"], line, ' ', "id");
      expect_same(client.predict({{"features", features}, {"inference", by}}).json()["predictions"], line,
                  ' ', "id");
    }
    EXPECT_EQ(client.predict({{"features", {{"3", 1}}}, {"k", 100}}).json()["predictions"].size(), 100U);
    const unsigned code = client.predict({{"features", {{"3", 1}}}, {"inference", "lsh"}}).code;
    EXPECT_EQ(code, by == "lsh" ? 200U : 400U);
    EXPECT_EQ(server.stop(), 0) << server.errors();
  }
}

}  // namespace
}  // namespace slide::test
