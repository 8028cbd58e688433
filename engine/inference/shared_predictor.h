// Predictions and ranking measures of a network whose parts several processes hold: each finds the best among
// its own neurons, and the best of all are those of all of them. Hidden activations are summed over the parts
// as in training.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/cluster/cluster.h"
#include "engine/inference/inference.h"

namespace slide {

// Throws InputError where neighbours vote under softmax, which takes the sum over all neurons.
void require_shared_evaluation(const Config& config);

// For one thread of each process; predict() runs its own threads.
class SharedPredictor {
 public:
  // As Predictor, where that is so; all processes of `cluster` call it together, with the same options.
  // Throws as require_shared_evaluation(), too.
  SharedPredictor(Cluster& cluster, const TrainedNetwork& trained, const InferenceOptions& options);
  ~SharedPredictor();
  SharedPredictor(const SharedPredictor&) = delete;
  SharedPredictor& operator=(const SharedPredictor&) = delete;

  // Calls sink(sample, best) for every row of `data` in order, from this thread, on all processes with the
  // same labels of the whole network and the same scores. Collective.
  void predict(const Dataset& data, const Predictor::Sink& sink);

 private:
  class HiddenSums;
  void predict_part(const Dataset& part, std::size_t first, const Predictor::Sink& sink);
  void add_up_norms(std::size_t samples);
  void merge(std::size_t samples, std::size_t sample);

  Cluster& cluster_;
  const std::size_t wanted_;            // options.k
  const Neighbours* cooccurrence_knn_;  // nullptr: no co-occurring labels
  const std::size_t k_;                 // labels that each process answers
  const std::size_t at_once_;           // samples exchanged at a time
  const std::uint32_t first_label_;
  const LossKind loss_;
  HiddenRows rows_;
  std::unique_ptr<HiddenSums> sums_;  // nullptr: no first layer by features
  std::vector<double> norms_;         // of the softmax over the own neurons, then over all; if asked for
  Predictor predictor_;
  std::vector<Predictor::Scratch> scratch_;
  std::vector<Prediction> own_, all_, best_;
  std::vector<double> all_norms_;
};

// As ranked(), of a SharedPredictor; all processes of `cluster` call it together and get the same.
Ranking ranked_shared(Cluster& cluster, const TrainedNetwork& trained, const Dataset& data,
                      const InferenceOptions& options, const LabelPairs& pairs = {});

// As evaluate(), of a SharedPredictor; all processes of `cluster` call it together and get the same.
Metrics evaluate_shared(Cluster& cluster, const TrainedNetwork& trained, const Dataset& data,
                        const InferenceOptions& options, std::span<const std::uint32_t> ks,
                        Metrics::Propensities inverse_propensities, Metrics::Groups groups);

}  // namespace slide
