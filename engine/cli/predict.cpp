#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/checkpoint.h"
#include "engine/cli/commands.h"
#include "engine/cli/data.h"
#include "engine/cli/text.h"
#include "engine/inference.h"

namespace slide::cli {

namespace {

constexpr std::size_t kSamplesAtOnce = 16384;  // bounds the memory of the lines that wait to be printed

// The score of a prediction: its probability under the sigmoid loss; under the softmax loss its logit, since
// a probability would need the sum over all neurons.
double score_of(const Prediction& prediction, LossKind loss) {
  const double logit = prediction.score;
  return loss == LossKind::kSigmoid ? 1.0 / (1.0 + std::exp(-logit)) : logit;
}

std::string line_of(std::span<const Prediction> best, LossKind loss) {
  std::string line;
  for (const Prediction& prediction : best) {
    if (!line.empty()) line += ' ';
    line += fmt::format("{}:{:.6g}", prediction.label, score_of(prediction, loss));
  }
  return line += '\n';
}

}  // namespace

void run_predict(const PredictCommand& command) {
  Model model = load_model(command.model);
  const DataConfig& config = model.config.data;
  const Dataset data = command.data == "-"
                           ? read_standard_input(config, model.shape.features, command.threads)
                           : read_test_data(command.data, config, model.shape.features, command.threads);
  InferenceOptions options;
  options.k = command.k;
  options.mode = command.inference.value_or(model.config.eval.inference);
  options.candidates = model.config.eval.candidates;
  options.threads = command.threads;
  if (options.mode == Inference::kLsh) model.build_tables(command.threads);
  const Predictor predictor(model.network, options);
  std::vector<std::string> lines;
  for (std::size_t first = 0; first < data.size(); first += kSamplesAtOnce) {
    const Dataset part = data.slice(first, std::min(kSamplesAtOnce, data.size() - first));
    lines.resize(part.size());
    predictor.predict(part, [&](std::size_t sample, std::span<const Prediction> best) {
      lines[sample] = line_of(best, model.config.loss.kind);
    });
    std::string text;
    for (const std::string& line : lines) text += line;
    print_text(text);
  }
}

}  // namespace slide::cli
