// Predictions of a trained network: the top-k labels of each sample, over all output neurons or over the
// candidates of hash tables, which the Predictor builds (lsh/neuron_index.h). The network must not change
// while a Predictor exists; predict() without a Scratch& argument uses its own threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/inference/answer_steps.h"
#include "engine/inference/cooccurrence.h"
#include "engine/inference/metrics.h"
#include "engine/inference/popular_items.h"
#include "engine/inference/prediction_batch.h"
#include "engine/inference/probability.h"
#include "engine/inference/ranking.h"
#include "engine/inference/rare_ranking.h"
#include "engine/inference/scorers.h"
#include "engine/inference/top_k.h"
#include "engine/knn/neighbours.h"
#include "engine/network/network.h"

namespace slide {

struct InferenceOptions {
  std::size_t k = 5;
  Inference mode = Inference::kFull;  // kAuto: decided for each call (auto_inference.h)
  // kLsh: max neurons from tables scored per sample, besides the neurons scored for all samples
  std::size_t candidates = 256;
  int threads = 0;
  // Scores are log-probabilities of the softmax over the scored neurons; with Inference::kFull, over all
  // neurons.
  bool log_softmax = false;
  // If not nullptr: receives for each sample of a call, by its index, the log of the softmax normaliser
  // (log-probability = logit - value); scores stay logits.
  std::vector<double>* log_norms = nullptr;
  // Inference::kFull: spends memory on low latency of single samples: a rounded copy, in bytes, of all weight
  // rows that they need, of all rows with a linear term (bounded_pass.h).
  bool low_latency = false;
  // Scores batches, and single samples without a linear term, by bounds and computes exact scores only of
  // possible top-k labels (bounded_pass.h), unless all scores are needed; with Inference::kLsh those of the
  // neurons scored for all samples. Default: on; of Inference::kFull from 4,096 neurons.
  std::optional<bool> bound_first;
  // The scores of a sample are bitwise independent of the other samples of its batch and of their number.
  // Otherwise they may differ in the last bits, for example between full and partial blocks of kLanes
  // samples. Slower for large batches.
  bool by_row = false;
  // For models of interactions: answers include the items of the input sample.
  bool keep_known = false;
  // For kNN prediction: whether likely labels raise co-occurring labels (cooccurrence.h).
  bool cooccurrence = true;
  // Ranks labels anew in favour of rare ones; nullptr: by score. Then scores of an answer need not descend.
  std::shared_ptr<const RareRanking> rare = nullptr;
  // Shares index and bounds with other predictors of the same network that have the same `shared`; nullptr:
  // makes its own.
  SharedScorers* shared = nullptr;
  // If set: called with the number of samples just answered, concurrently from the prediction threads.
  std::function<void(std::size_t samples)> progress;
};

// Receives the progress of an evaluation; called from any thread.
using Progress = std::function<void(std::size_t done, std::size_t all)>;
// Returns an InferenceOptions::progress function that passes the running sum to `report`; empty where
// `report` is empty.
std::function<void(std::size_t samples)> summed_progress(Progress report, std::size_t all);

class Predictor {
 public:
  // Selects the scorers for batches and for single samples. Inference::kLsh: builds the search index of the
  // output layer; where that is the only layer, queries its training hash tables instead (rebuild_index).
  // Throws InputError where it has none. Inference::kAuto: builds the index where resolved_inference()
  // chooses it for the options; calls that need more (a larger k, normalisers) score all neurons.
  Predictor(const TrainedNetwork& trained, const InferenceOptions& options);

  const InferenceOptions& options() const { return options_; }
  // Whether the model is one of interactions (data.kind): features and labels are items, and answers exclude
  // the sample's own items unless options().keep_known.
  bool of_items() const { return trained_.network.config().data.kind == DataKind::kInteractions; }
  std::size_t index_bytes() const;
  // Max number of items that a sample of [first, end) has; 0 where the model is not one of interactions.
  std::size_t max_known(const Dataset& data, std::size_t first, std::size_t end) const;

  // Working memory of one thread, kept between calls; grows to the largest call.
  class Scratch {
   private:
    friend class Predictor;
    struct Work {
      PredictionBatch batch;
      const Scorer* scorer = nullptr;
      std::unique_ptr<Scorer::Scratch> scorer_scratch;
      TopK::Scratch top_k;
      AnswerSteps::Scratch steps;
    };
    struct Works {
      std::unique_ptr<Work> one, many;  // for a single sample; for batches
    };
    Works usual, exact;  // exact: of calls that kAuto answers by all neurons beside an index

    std::unique_ptr<Work>& work(std::size_t lanes, bool by_all) {
      Works& works = by_all ? exact : usual;
      return lanes == 1 ? works.one : works.many;
    }
  };

  // Calls sink(sample, best) for every row of `data`, concurrently, each sample once. `best` holds at most k
  // predictions and is valid during the call. `scratch` is resized to the number of threads. Throws
  // InputError for feature ids that the network does not have.
  using Sink = std::function<void(std::size_t sample, std::span<const Prediction> best)>;
  void predict(const Dataset& data, std::vector<Scratch>& scratch, const Sink& sink) const;
  // The same with its own working memory.
  void predict(const Dataset& data, const Sink& sink) const;

  // Parameters of one call, in place of the options.
  struct Wanted {
    std::size_t k = 5;
    bool log_softmax = false;
    bool keep_known = false;
    bool exact = false;     // kAuto: by all neurons, whatever else is asked for
    bool by_score = false;  // whatever options().rare is
  };
  Wanted wanted() const { return {options_.k, options_.log_softmax, options_.keep_known}; }

  // How a call is answered, kFull or kLsh.
  Inference inference(const Wanted& wanted) const;

  // From several threads, what this call asks for.
  void predict(const Dataset& data, const Wanted& wanted, std::vector<Scratch>& scratch,
               const Sink& sink) const;

  // The same on the calling thread only, for low latency: a single sample is computed as a block of one lane.
  // Concurrent calls are safe with one Scratch per thread.
  void predict(const Dataset& data, const Wanted& wanted, Scratch& scratch, const Sink& sink) const;

 private:
  // All neurons, for calls of kAuto beside an index; made by the first of them.
  struct AllNeurons {
    std::once_flag once;
    std::unique_ptr<const Scorer> scorer;
  };

  ScorerChoice choice(Inference mode) const;
  Inference resolved(const Wanted& wanted) const;
  const Scorer& scorer_of(std::size_t lanes, bool exact) const;
  void check(const Dataset& data) const;
  std::size_t block_lanes() const;
  // nullptr: answers are by score.
  const RareRanking* rare_of(const Wanted& wanted) const {
    return wanted.by_score ? nullptr : options_.rare.get();
  }
  Scratch::Work& reserve(std::size_t blocks, std::size_t lanes, std::size_t entries, bool exact,
                         Scratch& scratch) const;
  void predict_batch(const Dataset& data, std::size_t first, std::size_t end, const Wanted& wanted,
                     Scratch::Work& work, const Sink& sink) const;

  TrainedNetwork trained_;
  InferenceOptions options_;
  AnswerSteps steps_;
  std::shared_ptr<const Scorers> scorers_;
  PopularItems popular_;                     // the answer to samples without items
  std::unique_ptr<AllNeurons> all_neurons_;  // of kAuto with an index, else nullptr
};

// The best labels of each row of `data` without the labels of `pairs`: predictor.options().k -
// pairs.max_per_sample() of them, which must be above 0. Results do not depend on the number of threads.
Ranking ranked(const Predictor& predictor, const Dataset& data, const LabelPairs& pairs = {});

// Ranking metrics over all of `data`, for ranks up to predictor.options().k. Results do not depend on the
// number of threads.
Metrics evaluate(const Predictor& predictor, const Dataset& data, std::span<const std::uint32_t> ks,
                 Metrics::Propensities inverse_propensities, Metrics::Groups groups = nullptr);
// The same with its own Predictor.
Metrics evaluate(const TrainedNetwork& trained, const Dataset& data, const InferenceOptions& options,
                 std::span<const std::uint32_t> ks, Metrics::Propensities inverse_propensities,
                 Metrics::Groups groups = nullptr);

}  // namespace slide
