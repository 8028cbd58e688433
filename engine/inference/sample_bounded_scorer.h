// Exact top k of a single sample, at low latency: computes upper bounds of the scores of all output neurons
// (SampleBounds), then exact scores of the neurons that can be among the top k. Where bounds are unavailable
// or prune too little, and where all exact scores are requested, FullScorer scores the sample.
//
// Neither bounded scorer serves for both, measured at 31,000 and 42,000 labels (one thread, AVX-512): on a
// batch of one BatchBoundedScorer takes 3.9 and 4.3 times as long, as it rounds all weights for each batch;
// sample by sample this one takes 2.3 and 2.6 times as long over a file.
//
// Immutable, safe from any thread with one Scratch per thread (Scorer).
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/inference/candidate_rescorer.h"
#include "engine/inference/full_scorer.h"
#include "engine/inference/sample_bounds.h"
#include "engine/inference/scorer.h"

namespace slide {

class SampleBoundedScorer final : public Scorer {
 public:
  // For a network with a dense first layer. `full` is of the same network and must outlive this object;
  // `bounds` belongs to the network's linear term, nullptr without one.
  SampleBoundedScorer(const FullScorer& full, const Network& network,
                      std::shared_ptr<const WideBounds> bounds)
      : full_(full),
        bounds_(full.output(), full.postings(), std::move(bounds)),
        rescorer_(full.output(), network.sample_features()) {}

  // Whether approximate scores have error bounds; precondition of score().
  bool bounded() const { return bounds_.bounded(); }

  // For one sample: `blocks` and `lanes` are 1.
  std::unique_ptr<Scorer::Scratch> make_scratch(std::size_t blocks, std::size_t lanes) const override;
  void score(PredictionBatch& batch, Scorer::Scratch& scratch) const override;
  std::size_t bytes() const override { return bounds_.bytes(); }

 private:
  struct Scratch final : Scorer::Scratch {
    std::unique_ptr<FullScorer::Scratch> full;
    SampleBounds::Scratch bounds;
    CandidateRescorer::Scratch rescorer;
    std::vector<CandidateRescorer::Candidate> candidates;
  };

  bool score_by_bounds(PredictionBatch& batch, Scratch& scratch) const;

  const FullScorer& full_;
  SampleBounds bounds_;
  CandidateRescorer rescorer_;
};

}  // namespace slide
