// Tests of TopK, against sorting the whole stream.
#include "engine/inference/top_k.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/base/rng.h"

namespace slide {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<Prediction> sorted_best(const std::vector<float>& scores, std::size_t k) {
  std::vector<Prediction> all;
  for (std::uint32_t label = 0; label < scores.size(); ++label)
    if (scores[label] > -kInfinity) all.push_back({label, scores[label]});
  std::sort(all.begin(), all.end(), [](const Prediction& a, const Prediction& b) {
    return a.score > b.score || (a.score == b.score && a.label < b.label);
  });
  all.resize(std::min(all.size(), k));
  return all;
}

// Scores of all kinds: many distinct, some equal.
std::vector<float> mixed_scores(std::size_t count, Rng& rng) {
  std::vector<float> scores(count);
  for (float& score : scores) {
    const float uniform = static_cast<float>(2.0 * rng.uniform() - 1.0);
    score = rng.below(3) == 0 ? std::round(4.0F * uniform) + 0.0F : 20.0F * uniform;
  }
  return scores;
}

void expect_best(TopK& best, TopK::Scratch& scratch, const std::vector<float>& scores) {
  best.finish(scratch);
  const std::vector<Prediction> expected = sorted_best(scores, best.k());
  ASSERT_EQ(best.best().size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(best.best()[i].label, expected[i].label) << "rank " << i;
    ASSERT_EQ(best.best()[i].score, expected[i].score) << "rank " << i;
  }
}

// Offers all scores, in spans of ascending labels.
void offer_all(TopK& best, const std::vector<float>& scores) {
  std::vector<std::uint32_t> labels(scores.size());
  std::iota(labels.begin(), labels.end(), 0U);
  constexpr std::size_t kSpan = 100;
  for (std::size_t i = 0; i < labels.size(); i += kSpan)
    best.offer(std::span(labels).subspan(i, std::min(kSpan, labels.size() - i)), scores.data() + i);
}

// After a stream of `offered` scores, the top k equal those of sorting `scores`.
void expect_best_of(TopK& best, TopK::Scratch& scratch, std::size_t k, const std::vector<float>& offered,
                    const std::vector<float>& scores) {
  best.reset(k, offered.size());
  offer_all(best, offered);
  expect_best(best, scratch, scores);
}

TEST(TopK, EqualsSortingWhateverTheSizes) {
  Rng rng(7, Purpose::kTest);
  TopK best;  // for all streams, since memory is kept
  TopK::Scratch scratch;
  for (const std::size_t labels : {1, 300, 2047, 2048, 5000, 20000}) {
    for (const std::size_t k : {1, 5, 256, 257, 1000, 1023, 1024, 2500, 9999, 10000, 30000}) {
      SCOPED_TRACE(testing::Message() << labels << " labels, k " << k);
      const std::vector<float> scores = mixed_scores(labels, rng);
      expect_best_of(best, scratch, k, scores, scores);
    }
  }
}

TEST(TopK, LabelsOneByOneInAnyOrder) {
  Rng rng(8, Purpose::kTest);
  TopK best;
  TopK::Scratch scratch;
  for (const std::size_t k : {5, 1000, 3000}) {
    const std::vector<float> scores = mixed_scores(5000, rng);
    std::vector<std::uint32_t> labels(scores.size());
    std::iota(labels.begin(), labels.end(), 0U);
    for (std::size_t i = labels.size(); i > 1; --i)
      std::swap(labels[i - 1], labels[rng.below(static_cast<std::uint32_t>(i))]);
    best.reset(k, scores.size());
    for (const std::uint32_t label : labels) best.offer(label, scores[label]);
    expect_best(best, scratch, scores);
  }
}

TEST(TopK, KeepsLessThanTheStreamBefore) {
  Rng rng(5, Purpose::kTest);
  const std::vector<float> scores = mixed_scores(3000, rng);
  TopK best;
  TopK::Scratch scratch;
  for (const std::size_t k : {3000, 1200, 500, 700, 300, 257, 256, 10, 400}) {
    best.reset(k, scores.size());
    offer_all(best, scores);
    expect_best(best, scratch, scores);
  }
}

TEST(TopK, LeavesOutWhatIsNoNumberOrMinusInfinity) {
  Rng rng(9, Purpose::kTest);
  TopK::Scratch scratch;
  for (const std::size_t k : {5, 1000, 3000, 5000}) {
    for (const std::size_t every : {2, 16, 4999}) {
      SCOPED_TRACE(testing::Message() << "k " << k << ", every " << every);
      std::vector<float> scores = mixed_scores(5000, rng);
      std::vector<float> offered = scores;
      for (std::size_t i = 0; i < scores.size(); i += every) {
        scores[i] = -kInfinity;
        offered[i] = i % (2 * every) == 0 ? std::nanf("") : -kInfinity;
      }
      scores[1] = offered[1] = kInfinity;
      scores[3] = offered[3] = std::numeric_limits<float>::lowest();
      TopK best;
      expect_best_of(best, scratch, k, offered, scores);
    }
  }
}

TEST(TopK, ZerosOfBothSignsAreEqual) {
  TopK::Scratch scratch;
  for (const std::size_t k : {5, 1000, 3000}) {
    std::vector<float> scores(5000, 0.0F);
    for (std::size_t i = 0; i < scores.size(); i += 2) scores[i] = -0.0F;
    TopK best;
    expect_best_of(best, scratch, k, scores, scores);
  }
}

// A finished stream is rewritten, as mixing with votes does; a new stream follows.
TEST(TopK, AppendsAfterClear) {
  Rng rng(10, Purpose::kTest);
  TopK best;
  TopK::Scratch scratch;
  for (const std::size_t k : {5, 1000, 3000}) {
    best.reset(k, 5000);
    std::vector<float> scores = mixed_scores(2000, rng);
    scores.resize(5000, -kInfinity);
    offer_all(best, scores);
    best.finish(scratch);
    best.clear();
    for (std::uint32_t i = 0; i < k; ++i) best.append({i, -static_cast<float>(i)});
    ASSERT_EQ(best.best().size(), k);
    for (std::uint32_t i = 0; i < k; ++i) ASSERT_EQ(best.best()[i].label, i);
    best.reset(k, 5000);
    offer_all(best, scores);
    expect_best(best, scratch, scores);
  }
}

TEST(TopK, ScoresBeyondFloatsBecomeTheirEnds) {
  constexpr float kMax = std::numeric_limits<float>::max();
  TopK best;
  TopK::Scratch scratch;
  best.reset(4, 4);
  for (std::uint32_t label = 0; label < 3; ++label)
    best.offer(label, std::vector{1.0F, kInfinity, kMax}[label]);
  best.finish(scratch);
  best.shift(-kInfinity);  // infinity minus infinity is NaN
  best.keep_finite();
  ASSERT_EQ(best.best().size(), 3U);
  EXPECT_EQ(best.best()[0].label, 1U);
  for (const Prediction& one : best.best()) EXPECT_EQ(one.score, -kMax);
  best.shift(kInfinity);
  best.keep_finite();
  for (const Prediction& one : best.best()) EXPECT_EQ(one.score, kMax);
}

}  // namespace
}  // namespace slide
