// Tests of a growing vocabulary: additions of a second text, with weights as if both texts had been learnt
// together.
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "datasets/text/text_model.h"
#include "datasets/text_learner.h"
#include "tests/datasets/test_files.h"

namespace slide {
namespace {

using Strings = std::vector<std::string>;
using Model = std::shared_ptr<const TextModel>;

constexpr const char* kOld = "a,b\tred green blue\na\tred green\n";
constexpr const char* kNew = "c,a\tred yellow\nc\tyellow pink\nd\tgreen\n";

TextOptions options_of(std::uint32_t min_count = 1, std::uint32_t buckets = 0) {
  TextOptions options;
  options.word_ngrams = 1;
  options.min_count = min_count;
  options.hash_buckets = buckets;
  return options;
}

class TextGrowth : public ::testing::Test {
 protected:
  Model learn(const std::string& text, const TextOptions& options) {
    return learn_text(TextSource{text, "t"}, options, 1);
  }
  Model more(const TextModel& before, const std::string& text, const TextOptions& options) {
    const std::string path = folder_.path("more.tsv");
    std::ofstream(path) << text;
    return learn_more_text_file(path, {}, before, options);
  }
  static std::map<std::string, float> weights_of(const TextModel& model) {
    std::map<std::string, float> weights;
    for (std::uint32_t id = 0; id < model.feature_count(); ++id)
      weights[model.feature_name(id)] = model.parts().weights[id];
    return weights;
  }
  static Strings labels_of(const TextModel& model) {
    Strings names;
    for (std::uint32_t id = 0; id < model.label_count(); ++id) names.emplace_back(model.label_name(id));
    return names;
  }

  TemporaryFolder folder_;
};

TEST_F(TextGrowth, NewOnesStandBehindAndWeightsAreThoseOfAllSamples) {
  const TextOptions options = options_of();
  const Model before = learn(kOld, options);
  const Model grown = more(*before, kNew, options);
  ASSERT_EQ(grown->vocabulary(), before->vocabulary() + 2);
  for (std::uint32_t id = 0; id < before->vocabulary(); ++id)
    EXPECT_EQ(grown->feature_name(id), before->feature_name(id));
  EXPECT_EQ(labels_of(*grown), (Strings{"a", "b", "c", "d"}));
  EXPECT_EQ(grown->samples(), 5U);
  EXPECT_EQ(weights_of(*grown), weights_of(*learn(std::string(kOld) + kNew, options)));
}

TEST_F(TextGrowth, BucketsStayBehindTheVocabulary) {
  const TextOptions options = options_of(2, 3);
  const Model before = learn(kOld, options);
  const Model grown = more(*before, kNew, options);
  EXPECT_EQ(before->vocabulary(), 2U);  // red, green
  EXPECT_EQ(grown->vocabulary(), 3U);   // and yellow
  EXPECT_EQ(grown->feature_count(), 6U);
  EXPECT_EQ(grown->feature_name(2), "yellow");
  EXPECT_EQ(grown->feature_name(3), "#0");
}

TEST_F(TextGrowth, NoMoreFeaturesThanTheOptionsAllow) {
  TextOptions options = options_of();
  options.max_features = 4;
  const Model grown = more(*learn(kOld, options), kNew, options);
  EXPECT_EQ(grown->vocabulary(), 4U);
  EXPECT_EQ(grown->feature_name(3), "yellow") << "the most frequent of the new ones";
}

TEST_F(TextGrowth, TheSameTextAddsNothing) {
  const TextOptions options = options_of();
  const Model before = learn(kOld, options);
  const Model grown = more(*before, kOld, options);
  EXPECT_EQ(grown->vocabulary(), before->vocabulary());
  EXPECT_EQ(labels_of(*grown), labels_of(*before));
}

TEST_F(TextGrowth, LabelsCanGo) {
  const Model grown = more(*learn(kOld, options_of()), kNew, options_of());
  const Model less = without_labels(*grown, {true, false, false, true});
  EXPECT_EQ(labels_of(*less), (Strings{"b", "c"}));
  EXPECT_EQ(weights_of(*less), weights_of(*grown));
  EXPECT_EQ(less->label_id("c"), 1U);
}

}  // namespace
}  // namespace slide
