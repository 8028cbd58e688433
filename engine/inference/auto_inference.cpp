#include "engine/inference/auto_inference.h"

#include <algorithm>

#include "engine/inference/probability.h"

namespace slide {

// Chooses lsh only where it pays. Without a linear term most rows are too short for every sample
// (BoundedPass), so that all neurons take less time than tables. Without a hidden layer there are only the
// tables of training, which are not made for inference. Items that a user has are among the best candidates
// but are left out of answers: too few candidates would remain.
Inference resolved_inference(Inference mode, const Config& config, std::size_t labels,
                             const InferenceNeeds& needs) {
  if (mode != Inference::kAuto) return mode;
  const bool has_hidden = config.layers.size() > 1;
  const bool of_items = config.data.kind == DataKind::kInteractions;
  const bool many = labels >= kMinTableLabels && labels / kMinPerCandidate >= needs.candidates;
  const bool norms = needs.log_norms || (config.neighbours.share > 0 && is_normalised(config.loss.kind));
  const bool tables =
      config.layers.back().wide && has_hidden && !of_items && many && !norms && needs.k <= kMaxTableK;
  return tables ? Inference::kLsh : Inference::kFull;
}

Inference resolved_inference(Inference mode, const Network& network, const InferenceNeeds& needs) {
  return resolved_inference(mode, network.config(), network.labels(), needs);
}

Inference resolved_inference(const Config& config, std::size_t labels) {
  const EvalConfig& eval = config.eval;
  return resolved_inference(eval.inference, config, labels,
                            {*std::ranges::max_element(eval.k), eval.candidates, false});
}

}  // namespace slide
