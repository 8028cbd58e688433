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
#include "engine/inference/panel_screen.h"
#include "engine/inference/screen.h"
#include "engine/network/network.h"
#include "engine/wide/wide_postings.h"
#include "lsh/search_index.h"

namespace slide {

struct Prediction {
  std::uint32_t label;
  // Logit; with InferenceOptions::log_softmax its logarithmic probability. Where neighbours vote, that of the
  // mixed probability: its log-odds under the sigmoid loss, its logarithm under softmax, whatever the
  // options.
  float score;
};

// The k best of a stream of scored labels, best first; equal scores by smaller label. Not thread-safe.
class TopK {
 public:
  void reset(std::size_t k);
  void clear() { size_ = 0; }
  std::size_t k() const { return entries_.size(); }
  // The next one after those there are, of which there are less than k; not above them.
  void append(const Prediction& entry) { entries_[size_++] = entry; }
  // The score that a new entry must exceed to matter.
  float threshold() const { return size_ < entries_.size() ? -kInfinity : entries_.back().score; }
  void offer(std::uint32_t label, float score);
  // Adds `offset` to all scores.
  void shift(float offset);
  std::span<const Prediction> best() const { return {entries_.data(), size_}; }

 private:
  static constexpr float kInfinity = 3.402823466e38f;
  std::vector<Prediction> entries_;
  std::size_t size_ = 0;
};

// A trained network as predictions see it: with the samples that vote, where there are any. Refers to both.
struct TrainedNetwork {
  TrainedNetwork(const Network& trained, const Neighbours* voters)  // nullptr: nobody votes
      : network(trained), neighbours(voters) {}
  const Network& network;
  const Neighbours* neighbours;
};

struct InferenceOptions {
  std::size_t k = 5;
  Inference mode = Inference::kFull;
  // lsh: neurons from the tables scored for a sample at most, beside those that are scored for all samples
  std::size_t candidates = 256;
  int threads = 0;
  // Scores are log-probabilities of the softmax over the neurons scored: with Inference::kFull, over all.
  bool log_softmax = false;
  // Inference::kFull: memory is spent on answering samples that come alone sooner (screen.h).
  bool soon = false;
  // Inference::kFull: samples that come together are scored in bfloat16 first, and only the best of them
  // exactly (panel_screen.h), where nobody wants to know all scores. Without a word, from
  // 4,096 neurons on if kernels::active().fast_bf16.
  std::optional<bool> rough_first;
};

// The probability of a label in a network trained with `loss`, from its score: the logit of its own yes or
// no, or under softmax the logarithm of its share, for which predictions need log_softmax.
double probability_of(LossKind loss, double score);
// The other way round; finite.
double score_of(LossKind loss, double probability);
inline bool needs_log_softmax(LossKind loss) {
  return loss == LossKind::kSoftmax;
}

class Predictor {
 public:
  // Inference::kLsh: builds the search index of the output layer. Throws InputError when that layer has no
  // hash tables from training (rebuild_index), which are asked where the network's only layer is the output.
  Predictor(const TrainedNetwork& trained, const InferenceOptions& options);

  const InferenceOptions& options() const { return options_; }
  std::size_t index_bytes() const {
    return (search_ ? search_->bytes() : 0) + (screen_ ? screen_->bytes() : 0) +
           (postings_ ? postings_->bytes() : 0) + (always_postings_ ? always_postings_->bytes() : 0);
  }

  // Calls sink(sample, best) for every row of `data`, from several threads, each sample once. `best` holds at
  // most k predictions and is valid during the call. Features the network does not know are an InputError.
  using Sink = std::function<void(std::size_t sample, std::span<const Prediction> best)>;
  void predict(const Dataset& data, const Sink& sink) const;

 private:
  struct Panel;

 public:
  // Working memory of one thread, kept from call to call; it grows to what the largest call needs.
  class Scratch {
   public:
    Scratch();
    Scratch(Scratch&& other) noexcept;
    Scratch& operator=(Scratch&& other) noexcept;
    ~Scratch();

   private:
    friend class Predictor;
    std::unique_ptr<Panel> one, many;  // for a sample alone, for panels of many
  };

  // What one call asks for in place of the options.
  struct Wanted {
    std::size_t k = 5;
    bool log_softmax = false;
  };

  // The same on the calling thread alone, for answers that must come soon: a single sample costs a pass of
  // one lane. May run on many threads at once, with a Scratch each.
  void predict(const Dataset& data, const Wanted& wanted, Scratch& scratch, const Sink& sink) const;

 private:
  void check(const Dataset& data) const;
  std::size_t neurons_at_once() const;
  // Whether neuron `id` is scored for every sample, candidate or not.
  bool is_always(std::uint32_t id) const { return search_ && always_[id]; }
  // Makes room for blocks of up to `entries` feature values.
  void reserve(std::size_t blocks, std::size_t lanes, std::size_t entries, Panel& panel) const;
  void predict_panel(const Dataset& data, std::size_t first, Panel& panel, const Sink& sink) const;
  void put_votes_first(std::size_t i, Panel& panel) const;
  void keep_best(std::span<const std::uint32_t> chunk, std::size_t block, float* z, Panel& panel) const;
  void begin_turn(bool may_be_rough, Panel& panel) const;
  float least_of_use(std::size_t block, std::size_t s, const Panel& panel) const;
  void note_hit(std::size_t block, std::size_t s, std::uint32_t label, float score, Panel& panel) const;
  void settle(Panel& panel) const;
  void settle(std::size_t block, std::size_t s, Panel& panel) const;
  void score_shared(std::span<const std::uint32_t> ids, const WidePostings* postings, Panel& panel) const;
  void score_candidates(std::size_t first, Panel& panel) const;
  void score_screened(Panel& panel) const;
  void add_wide_candidates(Panel& panel) const;
  void query_tables(const SparseRow& row, std::size_t sample, Panel& panel) const;

  const Network& network_;
  const Neighbours* neighbours_;  // nullptr: nobody votes
  InferenceOptions options_;
  std::optional<Screen> screen_;                 // for samples alone
  std::optional<PanelScreen> panel_screen_;      // for many
  std::optional<lsh::SearchIndex> search_;       // of the output layer
  std::vector<bool> always_;                     // neurons that search_ has scored for every sample
  std::optional<WidePostings> postings_;         // of its wide path
  std::optional<WidePostings> always_postings_;  // of those neurons alone
};

// Ranking measures over the whole of `data`, at ranks up to predictor.options().k. Deterministic whatever the
// thread count.
Metrics evaluate(const Predictor& predictor, const Dataset& data, std::span<const std::uint32_t> ks,
                 Metrics::Propensities inverse_propensities, Metrics::Groups groups = nullptr);
// The same with a Predictor of its own.
Metrics evaluate(const TrainedNetwork& trained, const Dataset& data, const InferenceOptions& options,
                 std::span<const std::uint32_t> ks, Metrics::Propensities inverse_propensities,
                 Metrics::Groups groups = nullptr);

}  // namespace slide
