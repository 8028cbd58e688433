// `--rare` and `eval.rare` from outside: commands and server rank in the same way, and scores stay.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>

#include "tests/serve/serve_fixture.h"

namespace slide::test {
namespace {

class RareTest : public ServeTest {
 protected:
  static std::string predicted(const std::string& model, Strings more) {
    more.insert(more.begin(), {"predict", model, "data/test.txt"});
    return run(more).out;
  }
  static Json tested(const std::string& model, Strings more = {}) {
    more.insert(more.begin(), {"test", model, "data/test.txt", "--json"});
    return Json::parse(run(more).out);
  }
  static Strings split(const std::string& text, char by) {
    Strings parts;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, by);) parts.push_back(word);
    return parts;
  }
  // 1 / p_l by the formula, from the training file.
  static std::map<std::string, double> weights() {
    std::map<std::string, double> weights;
    const Strings rows = split(read_file(slide_->path("data/train.txt")), '\n');
    for (int l = 0; l < 60; ++l) weights[std::to_string(l)] = 0;
    for (std::size_t i = 1; i < rows.size(); ++i) {
      for (const std::string& label : split(rows[i].substr(0, rows[i].find(' ')), ',')) ++weights[label];
    }
    const double c = (std::log(double(rows.size() - 1)) - 1) * std::pow(2.5, 0.55);
    for (auto& [label, weight] : weights) weight = 1 + c * std::pow(weight + 1.5, -0.55);
    return weights;
  }
};

TEST_F(RareTest, TheOrderChangesByTheFormulaAndScoresStay) {
  const std::string plain = predicted("ids", {"--k", "60"});
  EXPECT_EQ(predicted("ids", {"--k", "60", "--rare", "0"}), plain);
  const std::string rare = predicted("ids", {"--k", "60", "--rare", "0.7"});
  EXPECT_NE(rare, plain);
  const Strings before = split(plain, '\n'), after = split(rare, '\n');
  ASSERT_EQ(before.size(), after.size());
  const auto of = weights();
  for (std::size_t i = 0; i < before.size(); ++i) {
    Strings one = split(before[i], ' '), other = split(after[i], ' ');
    double above = 1e9;
    for (const std::string& entry : other) {
      const std::size_t colon = entry.find(':');
      const double value = std::stod(entry.substr(colon + 1)) * std::pow(of.at(entry.substr(0, colon)), 0.7);
      EXPECT_LE(value, above * (1 + 1e-4)) << after[i];
      above = value;
    }
    std::ranges::sort(one), std::ranges::sort(other);
    EXPECT_EQ(one, other) << "labels and scores";
  }
}

TEST_F(RareTest, TheServerAnswersAsPredict) {
  const Strings expected = split(predicted("ids", {"--k", "5", "--rare", "0.7"}), '\n');
  ServerProcess server = serve("ids", {"--rare", "0.7"});
  Client client = server.client();
  const Strings samples = lines();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Json answer = client.predict({{"features", features_of(samples[i])}, {"k", 5}}).json();
    const Strings words = split(expected[i], ' ');
    ASSERT_EQ(answer["predictions"].size(), words.size());
    for (std::size_t r = 0; r < words.size(); ++r)
      EXPECT_EQ(answer["predictions"][r]["id"].dump(), words[r].substr(0, words[r].find(':'))) << i;
  }
}

TEST_F(RareTest, TheModelKeepsItsChoice) {
  run({"train", "c.toml", "--set", "data.train=data/train.txt", "--set", "eval.rare=0.7", "--test",
       "data/test.txt", "--out", "chosen"});
  EXPECT_EQ(predicted("chosen", {}), predicted("ids", {"--rare", "0.7"}));
  EXPECT_EQ(predicted("chosen", {"--rare", "0"}), predicted("ids", {}));
  const Json chosen = tested("chosen"), plain = tested("ids"), rare = tested("ids", {"--rare", "0.7"});
  EXPECT_EQ(chosen["p_at_1"], rare["p_at_1"]);
  EXPECT_EQ(chosen["psp_at_5"], rare["psp_at_5"]);
  EXPECT_GT(rare["psp_at_5"], plain["psp_at_5"]);
  Json logged;
  for (const std::string& line : split(read_file(slide_->path("chosen/metrics.jsonl")), '\n')) {
    if (Json event = Json::parse(line); event.contains("psp_at_5")) logged = event;
  }
  EXPECT_EQ(logged["psp_at_5"], rare["psp_at_5"]) << "train --test";
}

// Candidates of tables are ranked anew, too; thresholds with k leave out what is below, wherever it stands.
TEST_F(RareTest, GoesWithTablesAndThresholds) {
  const Strings tables = {"--inference", "lsh", "--k", "5"};
  EXPECT_NE(predicted("ids", {"--inference", "lsh", "--k", "5", "--rare", "1"}), predicted("ids", tables));
  const auto score_of = [](const std::string& entry) { return entry.substr(entry.find(':') + 1); };
  const Strings all = split(predicted("ids", {"--k", "5", "--rare", "1"}), '\n');
  std::string threshold;  // that of a label which stands behind one of a lower score
  for (const std::string& line : all) {
    const Strings entries = split(line, ' ');
    for (std::size_t r = 1; r < entries.size(); ++r) {
      if (std::stod(score_of(entries[r])) > std::stod(score_of(entries[r - 1])))
        threshold = score_of(entries[r]);
    }
  }
  ASSERT_NE(threshold, "");
  const Strings some = split(predicted("ids", {"--k", "5", "--rare", "1", "--threshold", threshold}), '\n');
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string kept;
    for (const std::string& entry : split(all[i], ' ')) {
      if (std::stod(score_of(entry)) >= std::stod(threshold)) kept += (kept.empty() ? "" : " ") + entry;
    }
    EXPECT_EQ(i < some.size() ? some[i] : "", kept);
  }
  EXPECT_EQ(predicted("ids", {"--threshold", threshold, "--rare", "1"}),
            predicted("ids", {"--threshold", threshold}));
}

TEST_F(RareTest, IsFrom0To1) {
  for (const char* value : {"1.1", "-0.1", "nan"}) {
    expect_refused(slide_->run({"test", "ids", "data/test.txt", "--rare", value}), "--rare: Value ");
  }
  EXPECT_EQ(
      slide_->run({"train", "c.toml", "--set", "data.train=data/train.txt", "--set", "eval.rare=2"}).code, 2);
}

}  // namespace
}  // namespace slide::test
