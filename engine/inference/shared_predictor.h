// Predictions and metrics of a network whose shards are held by several processes: each process finds the top
// k among its own neurons, and the processes merge their lists. Hidden activations are summed over the shards
// as in training.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/cluster/cluster.h"
#include "engine/inference/inference.h"

namespace slide {

// Throws InputError for kNN prediction under softmax, which would need the sum over all neurons.
void require_shared_evaluation(const Config& config);

// Use from one thread per process; predict() uses its own threads.
class SharedPredictor {
 public:
  // Collective: all processes of `cluster` call it with the same options. Otherwise as Predictor. Throws also
  // as require_shared_evaluation().
  SharedPredictor(Cluster& cluster, const TrainedNetwork& trained, const InferenceOptions& options);
  ~SharedPredictor();
  SharedPredictor(const SharedPredictor&) = delete;
  SharedPredictor& operator=(const SharedPredictor&) = delete;

  // Calls sink(sample, best) for every row of `data` in order, from the calling thread; all processes get the
  // same labels (ids of the whole network) and scores. Collective.
  void predict(const Dataset& data, const Predictor::Sink& sink);

 private:
  class HiddenSums;
  void predict_part(const Dataset& part, std::size_t first, const Predictor::Sink& sink);
  std::span<const Prediction> answer(const Dataset& part, std::size_t sample);
  void add_up_norms(std::size_t samples);
  void merge(std::size_t samples, std::size_t sample);

  Cluster& cluster_;
  const std::size_t wanted_;  // options.k
  const bool keep_known_;     // options.keep_known
  const bool popular_;        // samples without items get popular items
  const AnswerSteps steps_;   // of merged labels
  AnswerSteps::Scratch steps_scratch_;
  const std::shared_ptr<const RareRanking> rare_;  // nullptr: answers are by score
  std::size_t k_;                                  // labels retrieved by each process
  const std::size_t at_once_;                      // max samples per exchange
  const std::uint32_t first_label_;
  HiddenRows rows_;
  std::unique_ptr<HiddenSums> sums_;  // nullptr: the first layer is not sharded by features
  std::vector<double> norms_;  // log-norms of the softmax over own neurons, then over all; only if requested
  Predictor predictor_;
  std::vector<Predictor::Scratch> scratch_;
  std::vector<Prediction> own_, all_, best_;
  std::vector<double> all_norms_;
};

// ranked() with a SharedPredictor. Collective; all processes get the same result.
Ranking ranked_shared(Cluster& cluster, const TrainedNetwork& trained, const Dataset& data,
                      const InferenceOptions& options, const LabelPairs& pairs = {});

// evaluate() with a SharedPredictor. Collective; all processes get the same result.
Metrics evaluate_shared(Cluster& cluster, const TrainedNetwork& trained, const Dataset& data,
                        const InferenceOptions& options, std::span<const std::uint32_t> ks,
                        Metrics::Propensities inverse_propensities, Metrics::Groups groups);

}  // namespace slide
