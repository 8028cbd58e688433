#include "engine/run/quantize.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/model/model_file.h"
#include "engine/model/output_files.h"
#include "engine/run/model_use.h"
#include "engine/run/run_data.h"
#include "engine/run/run_warnings.h"
#include "engine/run/threshold_file.h"
#include "engine/wide/linear_term.h"

namespace slide {

namespace {

constexpr std::size_t kFewSamples = 50;  // to fit a calibration to

// Decides which weights stay, in order of position.
class Sieve {
 public:
  // For a share of the weights: min_size_ is the largest |weight| to drop, and equal_to_drop_ how many
  // weights of exactly that size are dropped, so that their number is exact.
  Sieve(const AlignedArray<float>& weights, const Pruning& pruning) : min_size_(pruning.min_size) {
    equal_to_drop_ = 0;
    const auto drops = static_cast<std::size_t>(pruning.share * double(weights.size()));
    if (drops == 0) return;
    std::vector<float> sizes(weights.size());
    std::transform(weights.data(), weights.data() + weights.size(), sizes.begin(),
                   [](float w) { return std::fabs(w); });
    const auto border = sizes.begin() + static_cast<std::ptrdiff_t>(drops) - 1;
    std::nth_element(sizes.begin(), border, sizes.end());
    min_size_ = *border;
    equal_to_drop_ = drops - static_cast<std::size_t>(std::count_if(
                                 sizes.begin(), border, [&](float size) { return size < *border; }));
  }
  bool keeps(float weight) {
    const double size = std::fabs(weight);
    if (size == min_size_ && equal_to_drop_ > 0) return --equal_to_drop_, false;
    return size >= min_size_;
  }

 private:
  double min_size_;
  std::size_t equal_to_drop_;  // weights of exactly that size still to drop
};

// Compacts the lists of all neurons; kept.offsets [neurons + 1] moves along.
void prune(const Pruning& pruning, LinearTerm::Storage& kept) {
  kept.widen();
  Sieve sieve(kept.weights, pruning);
  std::vector<std::uint32_t> features;
  std::vector<float> weights;
  std::uint64_t at = 0;
  for (std::size_t n = 1; n < kept.offsets.size(); ++n) {
    for (; at < kept.offsets[n]; ++at) {
      const float weight = kept.weights.data()[at];
      if (!sieve.keeps(weight)) continue;
      features.push_back(kept.features.data()[at]);
      weights.push_back(weight);
    }
    kept.offsets[n] = features.size();
  }
  kept.features = AlignedArray<std::uint32_t>(features.size());
  kept.weights = AlignedArray<float>(weights.size());
  std::ranges::copy(features, kept.features.data());
  std::ranges::copy(weights, kept.weights.data());
}

// Describes the model, and evaluates it where there are data.
ModelSide side_of(Model& model, const std::optional<TestData>& data, int threads) {
  ModelSide side{model.form, model.bytes, 0, {}};
  if (const LinearTerm* wide = linear_term_of(model.network.output()); wide != nullptr)
    side.wide_weights = wide->weights();
  if (!data) return side;
  TestOptions test;
  test.threads = threads;
  test.ks = model.config.eval.k;
  const TestResult result = test_model(model, *data, test);
  for (const std::uint32_t k : test.ks) {
    const Metrics& metrics = result.metrics;
    side.measures.push_back({k, metrics.precision(k), metrics.ndcg(k), metrics.psp(k), metrics.recall(k)});
  }
  return side;
}

}  // namespace

QuantizeResult quantize_model(const QuantizeOptions& options) {
  check_model_out({"OUT", options.out},
                  std::array{options.model, options.test, options.calibrate,
                             threshold_number(options.threshold) ? "" : options.threshold},
                  "small.slide", options.replace);
  QuantizeResult result;
  Model model = load_model(options.model);
  LinearTerm* wide = linear_term_of(model.network.output());
  if (options.pruning && wide == nullptr)
    fail_input("{}: --prune drops weights of the linear term, which this model does not have", options.model);
  const int threads = resolve_threads(options.threads);
  std::optional<TestData> data;  // read once: it may be a pipe
  if (!options.test.empty()) data = read_test_data(options.test, model, threads);
  if (data) result.samples = data->rows.size();
  result.before = side_of(model, data, threads);
  result.notes = model.notes;
  if (options.pruning) prune(*options.pruning, wide->storage());
  if (!options.calibrate.empty()) {
    const std::string same = training_file_warning(options.calibrate, model.config.data);
    if (!same.empty()) result.notes.push_back(same);
    const TestData unseen = read_test_data(options.calibrate, model, threads);
    result.calibration = fit_calibration(model, unseen.rows, threads);
    if (result.calibration->samples < kFewSamples)
      result.notes.push_back(
          fmt::format("{}: its {} samples are few to fit probabilities to; a calibration needs some hundred",
                      options.calibrate, result.calibration->samples));
    model.calibration = result.calibration->calibration;
    if (model.thresholds && options.threshold.empty())
      result.notes.push_back(
          "the thresholds are dropped, for probabilities change; find them anew by slide evaluate");
    model.thresholds.reset();
  }
  if (!options.threshold.empty()) model.thresholds = thresholds_of_model(options.threshold, model);
  save_model(options.out, {model.config, model.shape, model.trained(), nullptr, model.steps, model.text.get(),
                           model.unseen_runs, options.form.value_or(model.form), &model.hashes,
                           model.thresholds ? &*model.thresholds : nullptr});
  Model small = load_model(options.out);
  result.after = side_of(small, data, threads);
  return result;
}

}  // namespace slide
