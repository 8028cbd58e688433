// Resolves `eval.inference = "auto"`: candidates of hash tables where they answer faster than all neurons at
// 99.9 % of the P@1, else all neurons. README.md of this folder has the measurements.
//
// The result depends only on the configuration, the number of labels and the call: commands, server, library
// and all processes of a run decide the same way.
#pragma once

#include <cstddef>

#include "engine/config/config.h"
#include "engine/network/network.h"

namespace slide {

inline constexpr std::size_t kMinTableLabels = 100000;  // fewer: all neurons are as fast, or more accurate
inline constexpr std::size_t kMaxTableK = 64;           // more labels wanted: tables miss too many of them
inline constexpr std::size_t kMinPerCandidate = 64;     // labels for each of eval.candidates

// Requirements of a call besides the labels of its samples.
struct InferenceNeeds {
  std::size_t k = 5;
  std::size_t candidates = 256;  // as eval.candidates
  // Softmax normalisers over all neurons: probabilities under softmax, alone or mixed with the kNN.
  bool log_norms = false;
};

// kFull or kLsh: `mode` unless it is kAuto. `labels`: of the whole network, over all processes. O(1).
Inference resolved_inference(Inference mode, const Config& config, std::size_t labels,
                             const InferenceNeeds& needs);
// resolved_inference() with the configuration and the labels of `network`.
Inference resolved_inference(Inference mode, const Network& network, const InferenceNeeds& needs);

// The same for eval.inference of `config` and the labels that `slide test` ranks: the max of eval.k, by
// logits.
Inference resolved_inference(const Config& config, std::size_t labels);

}  // namespace slide
