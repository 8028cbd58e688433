// Tests of calibration: the fit finds the map that scores were made with, keeps the order of labels, and
// refuses what has no map.
#include "engine/inference/calibration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/base/rng.h"
#include "engine/inference/probability.h"
#include "engine/inference/reliability.h"

namespace slide {
namespace {

constexpr std::size_t kFitted = 4000, kBest = 25;

// Best labels of a sample: log-odds by falling score.
std::vector<Prediction> best_of(std::uint32_t sample) {
  Rng rng(1, Purpose::kTest, sample);
  const double shift = 2.0 * rng.normal();
  std::vector<Prediction> best;
  for (std::uint32_t l = 0; l < kBest; ++l)
    best.push_back({l, static_cast<float>(-2.5 + shift + 1.5 * rng.normal())});
  std::ranges::sort(best, ranks_before);
  return best;
}

// Labels that are true with the probabilities that `actual` gives.
std::vector<std::uint32_t> truth_of(std::uint32_t sample, const Calibration& actual) {
  std::vector<Prediction> labels = best_of(sample);
  actual.apply(Calibration::log_mass(labels), labels);
  Rng rng(2, Purpose::kTest, sample);
  std::vector<std::uint32_t> truth;
  for (const Prediction& one : labels) {
    if (rng.uniform() < probability_of(LossKind::kSigmoid, one.score)) truth.push_back(one.label);
  }
  std::ranges::sort(truth);
  return truth;
}

Calibration fitted_to(const Calibration& actual) {
  CalibrationFit fit;
  for (std::uint32_t sample = 0; sample < kFitted; ++sample)
    fit.add(best_of(sample), truth_of(sample, actual));
  return fit.fit().value();
}

TEST(Calibration, FindsTheMapOfTheLabels) {
  for (const Calibration& actual :
       {Calibration{1, 0, 0}, Calibration{0.7f, 1.5f, 0}, Calibration{1.1f, 0.9f, -0.9f}}) {
    const Calibration found = fitted_to(actual);
    EXPECT_NEAR(found.slope, actual.slope, 0.04);
    EXPECT_NEAR(found.offset, actual.offset, 0.1);
    EXPECT_NEAR(found.mass, actual.mass, 0.06);
  }
}

TEST(Calibration, MakesScoresProbabilities) {
  const Calibration actual{0.9f, 2.0f, -0.8f}, found = fitted_to(actual);
  Reliability raw, calibrated;
  for (std::uint32_t sample = kFitted; sample < 2 * kFitted; ++sample) {
    const std::vector<std::uint32_t> truth = truth_of(sample, actual);
    std::vector<Prediction> labels = best_of(sample);
    const double log_mass = Calibration::log_mass(labels);
    const auto add_to = [&](Reliability& to) {
      for (const Prediction& one : labels) {
        const auto p = static_cast<float>(probability_of(LossKind::kSigmoid, one.score));
        to.add(p, std::ranges::binary_search(truth, one.label));
      }
    };
    add_to(raw);
    found.apply(log_mass, labels);
    EXPECT_TRUE(std::ranges::is_sorted(
        labels, [](const Prediction& a, const Prediction& b) { return a.score > b.score; }));
    add_to(calibrated);
  }
  EXPECT_GT(raw.error(), 0.1);
  EXPECT_LT(calibrated.error(), 0.01);
}

TEST(Calibration, MassIsThatOfTheBestLabels) {
  std::vector<Prediction> labels(30, {0, 0.0f});
  EXPECT_NEAR(Calibration::log_mass(labels), std::log(Calibration::kMassLabels / 2.0), 1e-9);
  EXPECT_NEAR(Calibration::log_mass(std::span(labels).first(4)), std::log(2.0), 1e-9);
  EXPECT_TRUE(std::isfinite(Calibration::log_mass({})));
}

TEST(Calibration, NothingFitsWithoutHitsOrMisses) {
  const std::vector<Prediction> best = {{3, 1.0f}, {1, 0.5f}};
  CalibrationFit none, all, falling;
  EXPECT_FALSE(none.fit());
  none.add(best, {});
  EXPECT_FALSE(none.fit());
  const std::vector<std::uint32_t> both = {1, 3}, last = {1};
  all.add(best, both);
  EXPECT_FALSE(all.fit());
  for (int sample = 0; sample < 50; ++sample) falling.add(best, last);
  EXPECT_FALSE(falling.fit()) << "the lower score is the true one";
}

// Scores far from 0, as of a model that is sure and wrong.
TEST(Calibration, FitsScoresFarFromZero) {
  CalibrationFit fit;
  Rng rng(3, Purpose::kTest);
  for (int sample = 0; sample < 2000; ++sample) {
    const bool hit = rng.uniform() < 0.3;
    const std::vector<Prediction> best = {{0, static_cast<float>(40 + 5 * rng.normal() + (hit ? 1 : 0))}};
    const std::vector<std::uint32_t> zero = {0};
    fit.add(best, hit ? std::span<const std::uint32_t>(zero) : std::span<const std::uint32_t>());
  }
  const std::optional<Calibration> found = fit.fit();
  ASSERT_TRUE(found);
  EXPECT_NEAR(probability_of(LossKind::kSigmoid,
                             found->slope * 40 + found->offset +
                                 found->mass * Calibration::log_mass(std::vector<Prediction>{{0, 40.0f}})),
              0.28, 0.06);
}

}  // namespace
}  // namespace slide
