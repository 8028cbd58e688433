// Predictions of a trained network: the best labels of a sample, over all output neurons or only over the
// candidates of the hash tables. Networks are only read; predict() runs its own threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/metrics.h"
#include "engine/network.h"

namespace slide {

struct Prediction {
  std::uint32_t label;
  float score;  // logit
};

// The k best of a stream of scored labels, best first; equal scores by smaller label. Not thread-safe.
class TopK {
 public:
  void reset(std::size_t k);
  // The score that a new entry must exceed to matter.
  float threshold() const { return size_ < entries_.size() ? -kInfinity : entries_.back().score; }
  void offer(std::uint32_t label, float score);
  std::span<const Prediction> best() const { return {entries_.data(), size_}; }

 private:
  static constexpr float kInfinity = 3.402823466e38f;
  std::vector<Prediction> entries_;
  std::size_t size_ = 0;
};

struct InferenceOptions {
  std::size_t k = 5;
  Inference mode = Inference::kFull;
  std::size_t candidates = 1024;  // lsh: neurons scored for a sample at most
  int threads = 0;
};

class Predictor {
 public:
  // The network needs its tables (rebuild_index) for Inference::kLsh; throws InputError without.
  Predictor(const Network& network, const InferenceOptions& options);

  // Calls sink(sample, best) for every row of `data`, from several threads, each sample once. `best` holds at
  // most k predictions and is valid during the call. Features the network does not know are an InputError.
  using Sink = std::function<void(std::size_t sample, std::span<const Prediction> best)>;
  void predict(const Dataset& data, const Sink& sink) const;

 private:
  struct Panel;
  void predict_panel(const Dataset& data, std::size_t first, Panel& panel, const Sink& sink) const;
  void score_all(Panel& panel) const;
  void score_candidates(std::size_t first, Panel& panel) const;

  const Network& network_;
  InferenceOptions options_;
};

// Ranking measures over the whole of `data`. Deterministic whatever the thread count.
Metrics evaluate(const Network& network, const Dataset& data, const InferenceOptions& options,
                 std::span<const std::uint32_t> ks, Metrics::Propensities inverse_propensities);

}  // namespace slide
