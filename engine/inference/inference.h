// Predictions of a trained network: the best labels of a sample, over all output neurons or only over the
// candidates of hash tables, which the Predictor makes for itself (lsh/search_index.h). Networks are only
// read, and must not change while they have a Predictor; predict() runs its own threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/features/neighbours.h"
#include "engine/inference/metrics.h"
#include "engine/inference/prediction_batch.h"
#include "engine/inference/probability.h"
#include "engine/inference/ranking.h"
#include "engine/inference/scorer.h"
#include "engine/inference/top_k.h"
#include "engine/network/network.h"
#include "engine/wide/wide_bounds.h"

namespace slide {

struct InferenceOptions {
  std::size_t k = 5;
  Inference mode = Inference::kFull;
  // lsh: neurons from the tables scored for a sample at most, beside those that are scored for all samples
  std::size_t candidates = 256;
  int threads = 0;
  // Scores are log-probabilities of the softmax over the neurons scored: with Inference::kFull, over all.
  bool log_softmax = false;
  // Where not nullptr, takes for each sample of a call, by its number, what would make a logit one of these
  // when taken off it, and scores stay logits.
  std::vector<double>* log_norms = nullptr;
  // Inference::kFull: memory is spent on answering samples that come alone sooner (sample_bounds.h).
  bool low_latency = false;
  // Inference::kFull: bounds of scores come first for samples that come together, and only what could be
  // among the best is scored exactly (batch_bounded_scorer.h), where nobody wants to know all scores. Without
  // a word, from 4,096 neurons on where there is a wide path or BatchBounds::fastest() is not floats.
  std::optional<bool> bound_first;
  // The scores of a sample are the same to the bit whatever samples come with it and how many. Else they may
  // differ in the last bits, and so from a block of kLanes to one that is not full. Costs some time where
  // many come together.
  bool by_row = false;
  // Of a model of interactions: a sample's own items are answered, too.
  bool keep_known = false;
  // Of neighbours: whether likely labels lend to those they come with (cooccurrence.h).
  bool cooccurrence = true;
  // Unless empty, hears how many samples have just been answered where several threads answer many; from each
  // of them.
  std::function<void(std::size_t samples)> progress;
};

// How far an evaluation is, from any thread.
using Progress = std::function<void(std::size_t done, std::size_t all)>;
// InferenceOptions::progress that tells the sum; empty where `told` is.
std::function<void(std::size_t samples)> summed_progress(Progress told, std::size_t all);

class Predictor {
 public:
  // Chooses how samples are scored, together and alone. Inference::kLsh: builds the search index of the
  // output layer; where that is the network's only layer, hash tables of training are asked in its place
  // (rebuild_index). Throws InputError where it has none.
  Predictor(const TrainedNetwork& trained, const InferenceOptions& options);

  const InferenceOptions& options() const { return options_; }
  // Whether the model is one of interactions (data.kind): features and labels are items, and answers leave
  // out those that a sample has, but for options().keep_known.
  bool of_items() const { return trained_.network.config().data.kind == DataKind::kInteractions; }
  std::size_t index_bytes() const;

  // Working memory of one thread, kept from call to call; it grows to what the largest call needs.
  class Scratch {
   private:
    friend class Predictor;
    struct Work {
      PredictionBatch batch;
      std::unique_ptr<Scorer::Scratch> scorer;
      TopK::Scratch top_k;
      std::vector<Prediction> unknown;  // the best items but for those that a sample has
    };
    std::unique_ptr<Work> one, many;  // for a sample alone, for batches of many
  };

  // Calls sink(sample, best) for every row of `data`, from several threads, each sample once. `best` holds at
  // most k predictions and is valid during the call. Features the network does not know are an InputError.
  // `scratch` gets as many as there are threads.
  using Sink = std::function<void(std::size_t sample, std::span<const Prediction> best)>;
  void predict(const Dataset& data, std::vector<Scratch>& scratch, const Sink& sink) const;
  // The same with memory of its own.
  void predict(const Dataset& data, const Sink& sink) const;

  // What one call asks for in place of the options.
  struct Wanted {
    std::size_t k = 5;
    bool log_softmax = false;
    bool keep_known = false;
  };

  // The same on the calling thread alone, for answers that must come soon: a single sample costs a pass of
  // one lane. May run on many threads at once, with a Scratch each.
  void predict(const Dataset& data, const Wanted& wanted, Scratch& scratch, const Sink& sink) const;

 private:
  void choose_full();
  template <class Way, class... Args>
  const Way& add(Args&&... args);
  void check(const Dataset& data) const;
  std::size_t most_known(const Dataset& data, std::size_t first, std::size_t end) const;
  std::span<const Prediction> without_known(std::span<const Prediction> best, const SparseRow& row,
                                            std::size_t k, std::vector<Prediction>& unknown) const;
  std::size_t block_lanes() const;
  Scratch::Work& reserve(std::size_t blocks, std::size_t lanes, std::size_t entries, Scratch& scratch) const;
  void predict_batch(const Dataset& data, std::size_t first, std::size_t end, const Wanted& wanted,
                     Scratch::Work& work, const Sink& sink) const;

  TrainedNetwork trained_;
  InferenceOptions options_;
  const Neighbours* cooccurrence_knn_;                  // nullptr: no co-occurring labels
  std::shared_ptr<const WideBounds> bounds_;            // of the wide path, where scorers use them
  std::vector<std::unique_ptr<const Scorer>> scorers_;  // these two, and what they build on
  const Scorer* together_;
  const Scorer* alone_;  // of samples that come alone to a thread
};

// The best labels of each row of `data` but for those of `pairs`, as many as predictor.options().k, which
// must be larger, less pairs.most(). Deterministic whatever the thread count.
Ranking ranked(const Predictor& predictor, const Dataset& data, const LabelPairs& pairs = {});

// Ranking measures over the whole of `data`, at ranks up to predictor.options().k. Deterministic whatever the
// thread count.
Metrics evaluate(const Predictor& predictor, const Dataset& data, std::span<const std::uint32_t> ks,
                 Metrics::Propensities inverse_propensities, Metrics::Groups groups = nullptr);
// The same with a Predictor of its own.
Metrics evaluate(const TrainedNetwork& trained, const Dataset& data, const InferenceOptions& options,
                 std::span<const std::uint32_t> ks, Metrics::Propensities inverse_propensities,
                 Metrics::Groups groups = nullptr);

}  // namespace slide
