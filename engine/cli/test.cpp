#include <algorithm>
#include <chrono>
#include <memory>

#include "engine/base/error.h"
#include "engine/base/phases.h"
#include "engine/cli/commands.h"
#include "engine/cli/text.h"
#include "engine/inference/inference.h"
#include "engine/run/model_file.h"
#include "engine/run/run_data.h"
#include "engine/run/run_log.h"

namespace slide::cli {

namespace {

Metrics::Propensities propensities(const Model& model) {
  const EvalConfig& eval = model.config.eval;
  return std::make_shared<const std::vector<double>>(inverse_propensities(
      model.shape.label_frequencies, model.shape.samples, eval.propensity_a, eval.propensity_b));
}

std::string table(const Metrics& metrics, std::vector<std::uint32_t> ks) {
  std::sort(ks.begin(), ks.end());
  ks.erase(std::unique(ks.begin(), ks.end()), ks.end());
  std::string text = fmt::format("{:>6} {:>8} {:>8} {:>8} {:>8}\n", "k", "P", "nDCG", "PSP", "recall");
  for (const std::uint32_t k : ks) {
    text += fmt::format("{:>6} {:>8.4f} {:>8.4f} {:>8.4f} {:>8.4f}\n", k, metrics.precision(k),
                        metrics.ndcg(k), metrics.psp(k), metrics.recall(k));
  }
  return text;
}

}  // namespace

void run_test(const TestCommand& command) {
  Model model = load_model(command.model);
  if (command.format) model.config.data.format = *command.format;
  const Dataset data = read_test_data(command.data, model, command.threads);
  const std::vector<std::uint32_t> ks = command.k.empty() ? model.config.eval.k : command.k;
  InferenceOptions options;
  options.mode = command.inference.value_or(model.config.eval.inference);
  options.candidates = model.config.eval.candidates;
  options.threads = command.threads;
  options.k = *std::max_element(ks.begin(), ks.end());
  if (options.mode == Inference::kLsh) model.build_tables(command.threads);
  const Predictor predictor(model.trained(), options);  // building its index counts as loading
  const auto start = std::chrono::steady_clock::now();
  const Metrics metrics = evaluate(predictor, data, ks, propensities(model));
  const double seconds = seconds_since(start);
  if (command.json) {
    nlohmann::ordered_json result = {{"samples", data.size()}, {"seconds", seconds}};
    result.update(metrics.to_json());
    print("{}\n", result.dump());
    return;
  }
  print("{} samples in {:.2f} s\n{}", grouped(data.size()), seconds, table(metrics, ks));
}

}  // namespace slide::cli
