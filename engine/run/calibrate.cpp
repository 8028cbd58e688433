#include "engine/run/calibrate.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/error.h"
#include "engine/inference/inference.h"
#include "engine/inference/reliability.h"

namespace slide {

namespace {

constexpr std::size_t kMaxSamples = 100'000;

// The best labels of some samples, by falling score.
struct BestLabels {
  explicit BestLabels(std::size_t samples) : best(samples * kEach), counts(samples) {}
  static constexpr std::size_t kEach = Calibration::kMassLabels;

  void set(std::size_t sample, std::span<const Prediction> labels) {
    counts[sample] = labels.size();
    std::ranges::copy(labels, best.data() + sample * kEach);
  }
  std::span<Prediction> of(std::size_t sample) {
    return std::span(best).subspan(sample * kEach, counts[sample]);
  }

  std::vector<Prediction> best;
  std::vector<std::size_t> counts;
};

// Calibration error over all best labels, and over the first one of each sample.
CalibrationErrors errors_of(BestLabels& labels, const Dataset& samples) {
  Reliability all, first;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto truth = samples.labels(i);
    bool is_first = true;
    for (const Prediction& one : labels.of(i)) {
      const auto probability = static_cast<float>(probability_of(LossKind::kSigmoid, one.score));
      const bool hit = std::ranges::binary_search(truth, one.label);
      all.add(probability, hit);
      if (is_first) first.add(probability, hit);
      is_first = false;
    }
  }
  return {all.error(), first.error()};
}

}  // namespace

// Fits to evenly spaced samples, kMaxSamples at most; measures the error before and after on all of them.
CalibrationResult fit_calibration(const Model& model, const Dataset& samples, int threads) {
  if (is_normalised(model.config.loss.kind))
    fail_input(
        "a calibration is one of one-vs-all, but the model has loss.kind = softmax; train with sigmoid");
  TrainedNetwork trained = model.trained();
  trained.calibration.reset();
  InferenceOptions options;
  options.k = std::min(BestLabels::kEach, model.network.labels());
  options.threads = threads;
  const Predictor predictor(trained, options);
  BestLabels labels(samples.size());
  predictor.predict(samples, [&](std::size_t i, std::span<const Prediction> best) { labels.set(i, best); });
  CalibrationFit fit;
  const std::size_t step = (samples.size() + kMaxSamples - 1) / kMaxSamples;
  for (std::size_t i = 0; i < samples.size(); i += step) fit.add(labels.of(i), samples.labels(i));
  const std::optional<Calibration> found = fit.fit();
  if (!found)
    fail_input(
        "no calibration fits these {} samples: their best labels are all false or all true, "
        "or true less often where their scores are higher; give other samples that training has not seen",
        samples.size());
  CalibrationResult result{*found, samples.size(), errors_of(labels, samples), {}};
  for (std::size_t i = 0; i < samples.size(); ++i)
    found->apply(Calibration::log_mass(labels.of(i)), labels.of(i));
  result.after = errors_of(labels, samples);
  return result;
}

}  // namespace slide
