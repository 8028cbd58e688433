// Decides from the data whether training subtracts label margins (label_margins.h) from the logits of
// labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "datasets/rows/dataset.h"
#include "engine/config/config.h"
#include "engine/knn/neighbours.h"
#include "engine/network/loss_kind.h"
#include "engine/statistics/feature_scale.h"
#include "engine/wide/output_init.h"

namespace slide {

// Whether layer.-1.wide_margin applies: to a linear term that starts from samples, under the sigmoid loss.
inline bool takes_margins(const Config& config) {
  return config.layers.back().wide && starts_at_frequencies(config.loss.kind) &&
         config.data.kind != DataKind::kInteractions;
}

// P@1 of training samples that are predicted without themselves, by what is known before training.
struct MarginEvidence {
  static constexpr double kRatio = 0.95;  // of by_sums and by_neighbours

  std::size_t samples = 0;     // that were predicted; 0: nothing is known
  double by_sums = 0.0;        // by the fitted initialisation: the similarity to the sums of labels' samples
  double by_neighbours = 0.0;  // by kNN

  // The share of the margins to subtract, 0 or 1. Margins pay where the samples of a label are similar to
  // each other: their sum then predicts about as well as kNN (configs/experiments/large-set.md#the-margin).
  double share() const { return by_sums > 0.0 && by_sums >= kRatio * by_neighbours ? 1.0 : 0.0; }
};

// Predicts 256 training samples, or 1,024 where these do not show on which side of the ratio the precisions
// are (three standard errors of the paired difference). `init`: the fitted initialisation; `neighbours`: of
// the same samples, with the similarity and the number of neighbours in `config`. Predicts none where
// neighbours are dense or nothing has a label. Takes the time of the sums of all labels. Pure function; the
// result does not depend on `threads`.
MarginEvidence margin_evidence(const Dataset& train, std::span<const std::uint32_t> label_frequencies,
                               const FeatureScale& scale, const OutputInit& init,
                               const NeighbourConfig& config, const Neighbours& neighbours,
                               std::uint64_t seed, int threads);

}  // namespace slide
