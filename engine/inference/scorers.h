// The scorers that a Predictor needs, with the search index or bounds that they use. Predictors of one model
// whose options differ only in a call's, such as k, share them (SharedScorers).
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "engine/config/config.h"
#include "engine/inference/full_scorer.h"
#include "engine/inference/prediction_batch.h"
#include "engine/inference/rows_by_length.h"
#include "engine/inference/scorer.h"
#include "engine/knn/neighbours.h"
#include "engine/wide/wide_bounds.h"

namespace slide {

// Options of scorers; with the network they determine the scorers.
struct ScorerChoice {
  Inference mode = Inference::kFull;  // or kLsh
  std::size_t candidates = 0;         // of kLsh, as in InferenceOptions
  bool low_latency = false;           // of kFull, as in InferenceOptions
  bool bound_first = false;           // as in InferenceOptions, resolved

  bool operator==(const ScorerChoice&) const = default;
};

// Immutable, safe from any thread; refers to the network, which must not change.
class Scorers {
 public:
  // Builds the index of kLsh and the bounds of kFull, with `threads` threads.
  Scorers(const TrainedNetwork& trained, const ScorerChoice& choice, int threads);

  const Scorer& for_batches() const { return *batch_scorer_; }
  const Scorer& for_single() const { return *single_scorer_; }
  std::size_t bytes() const;  // index and bounds
  // Bytes of bounds of all neurons without a linear term and without low latency, while they are made.
  static double bounds_bytes_of(std::size_t neurons, std::size_t inputs);

 private:
  template <class ScorerType, class... Args>
  const ScorerType& add(Args&&... args);
  void choose_full(const TrainedNetwork& trained, const ScorerChoice& choice, int threads);
  std::size_t kept_rows(const FullScorer& full, bool low_latency) const;

  // Where scorers use them: bounds of the linear term, or without one the order of the rows.
  std::shared_ptr<const WideBounds> bounds_;
  std::optional<RowsByLength> by_length_;
  std::vector<std::unique_ptr<const Scorer>> all_;  // batch_scorer_, single_scorer_ and the scorers they use
  const Scorer* batch_scorer_ = nullptr;
  const Scorer* single_scorer_ = nullptr;
};

// The scorers of one network that are in use. Thread-safe.
class SharedScorers {
 public:
  // Returns the scorers of an earlier call with an equal choice while a caller still holds them; else builds
  // them. Concurrent calls wait for each other.
  std::shared_ptr<const Scorers> get(const TrainedNetwork& trained, const ScorerChoice& choice, int threads);
  std::size_t made() const;  // scorers made so far

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<ScorerChoice, std::weak_ptr<const Scorers>>> used_;
  std::size_t made_ = 0;
};

}  // namespace slide
