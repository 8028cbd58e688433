// Models of all kinds, trained once per test suite, and servers for them.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "tests/cli/small_config.h"
#include "tests/serve/client.h"

namespace slide::test {

inline const std::string kConfig = small_config({.train = "epochs = 3\nbatch_size = 32\nblock_size = 16\n",
                                                 .wide = true,
                                                 .rehash = "rehash_steps = 100\n"});

inline constexpr const char* kText[][2] = {{"gärten", "roses and tulips"},
                                           {"music", "a violin, a cello and a choir"},
                                           {"deep \"learning\"", "networks of neurons"},
                                           {"cooking", "bread from the oven"},
                                           {"gärten", "tulips in spring"},
                                           {"music", "a choir sings"},
                                           {"deep \"learning\"", "a gradient of networks"},
                                           {"cooking", "salt and bread"}};

// Models are trained once for all tests.
class ServeTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    slide_ = new Program;
    write_file(slide_->path("c.toml"), kConfig);
    run({"generate", "--samples", "300", "--features", "120", "--labels", "60", "--seed", "3",
         "--test-samples", "40", "--out", "data"});
    run({"train", "c.toml", "--set", "data.train=data/train.txt", "--out", "ids"});
    run({"train", "c.toml", "--set", "data.train=data/train.txt", "--seed", "7", "--out", "other"});
    run({"train", "c.toml", "--set", "data.train=data/train.txt", "--set", "loss.kind=softmax", "--out",
         "softmax"});
    run({"train", "c.toml", "--set", "data.train=data/train.txt", "--set", "data.idf_power=1.5", "--out",
         "scaled"});
    std::string table;
    for (int i = 0; i < 5; ++i) {
      for (const auto& [label, text] : kText) table += std::string(label) + "\t" + text + "\n";
    }
    write_file(slide_->path("train.tsv"), table);
    run({"train", "c.toml", "--set", "data.train=train.tsv", "--set", "train.epochs=20", "--set",
         "text.min_count=1", "--out", "text"});
  }
  static void TearDownTestSuite() {
    delete slide_;
    slide_ = nullptr;
  }
  static Outcome run(const Strings& arguments, const std::string& input = "") {
    return expect_done(slide_->run(arguments, input));
  }
  static std::string folder() { return slide_->folder().string(); }
  static ServerProcess serve(const std::string& model, Strings more = {}) {
    more.insert(more.begin(), model + "/model.slide");
    return {folder(), more};
  }

  // Samples of the test file: their feature lines, and the same as JSON.
  static Strings lines() {
    Strings lines;
    std::istringstream file(read_file(slide_->path("data/test.txt")));
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) lines.push_back(line);
    return lines;
  }
  static Json features_of(const std::string& line) {
    Json features = Json::object();
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const std::size_t colon = word.find(':');
      if (colon != std::string::npos) features[word.substr(0, colon)] = std::stod(word.substr(colon + 1));
    }
    return features;
  }

  // Whether an answer's predictions equal those of a line of 'slide predict', up to rounding.
  static void expect_same(const Json& predictions, const std::string& line, char separator, const char* key) {
    std::istringstream words(line);
    std::size_t i = 0;
    for (std::string word; std::getline(words, word, separator); ++i) {
      ASSERT_LT(i, predictions.size()) << line;
      const std::size_t colon = word.rfind(':');
      const double score = std::stod(word.substr(colon + 1));
      EXPECT_NEAR(predictions[i]["score"].get<double>(), score, 1e-4 * std::max(1.0, std::fabs(score)));
      const std::string label = predictions[i][key].is_string() ? predictions[i][key].get<std::string>()
                                                                : predictions[i][key].dump();
      // Scores that differ by rounding may be swapped.
      const bool tie =
          (i > 0 && std::fabs(predictions[i - 1]["score"].get<double>() - score) < 1e-4) ||
          (i + 1 < predictions.size() && std::fabs(predictions[i + 1]["score"].get<double>() - score) < 1e-4);
      EXPECT_TRUE(label == word.substr(0, colon) || tie || i + 1 == predictions.size())
          << label << " for " << word;
    }
    EXPECT_EQ(i, predictions.size());
  }

  static inline Program* slide_ = nullptr;
};

}  // namespace slide::test
