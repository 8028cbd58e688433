#include "engine/inference/scorers.h"

#include <algorithm>

#include "engine/inference/batch_bounded_scorer.h"
#include "engine/inference/candidate_scorer.h"
#include "engine/inference/full_scorer.h"
#include "engine/inference/probability.h"
#include "engine/inference/sample_bounded_scorer.h"

namespace slide {

namespace {

// Chooses the number of bounded features such that bounds take at most a fourth of the memory of the linear
// term and its postings.
std::shared_ptr<const WideBounds> bounds_of(const WidePostings& postings, std::size_t neurons, int threads) {
  const std::size_t few = std::max(WideBounds::kFew, neurons / (4 * WideBounds::kGroup));
  return std::make_shared<const WideBounds>(postings, neurons, few, threads);
}

}  // namespace

template <class ScorerType, class... Args>
const ScorerType& Scorers::add(Args&&... args) {
  auto scorer = std::make_unique<ScorerType>(std::forward<Args>(args)...);
  const ScorerType& added = *scorer;
  all_.push_back(std::move(scorer));
  return added;
}

Scorers::Scorers(const TrainedNetwork& trained, const ScorerChoice& choice, int threads) {
  // With by_row, a block could be scored exactly as a whole, in another order of sums.
  const bool bound_first = choice.bound_first && !choice.by_row;
  if (choice.mode == Inference::kFull) {
    choose_full(trained, choice, bound_first, threads);
  } else if (choice.candidates >= trained.network.labels()) {
    together_ = alone_ = &add<FullScorer>(trained.network, threads);
  } else {
    together_ = alone_ = &add<CandidateScorer>(trained.network, choice.candidates, bound_first, threads);
  }
}

void Scorers::choose_full(const TrainedNetwork& trained, const ScorerChoice& choice, bool bound_first,
                          int threads) {
  const Network& network = trained.network;
  const FullScorer& full = add<FullScorer>(network, threads);
  together_ = alone_ = &full;
  // Bounds do not give the softmax normaliser that kNN votes need, and require a hidden layer.
  const bool needs_all = trained.neighbours != nullptr && is_normalised(network.config().loss.kind);
  if (needs_all || !has_whole_input(network)) return;
  if (!bound_first && !choice.low_latency) return;
  if (full.postings() != nullptr) bounds_ = bounds_of(*full.postings(), network.output().size(), threads);
  if (choice.low_latency) {
    const SampleBoundedScorer& sample_scorer = add<SampleBoundedScorer>(full, network, bounds_);
    if (sample_scorer.bounded()) alone_ = &sample_scorer;
  }
  if (!bound_first) return;
  const BatchBoundedScorer& batch_scorer = add<BatchBoundedScorer>(full, network, bounds_, threads);
  if (batch_scorer.bounded()) together_ = &batch_scorer;
}

std::size_t Scorers::bytes() const {
  std::size_t bytes = bounds_ ? bounds_->bytes() : 0;
  for (const auto& scorer : all_) bytes += scorer->bytes();
  return bytes;
}

std::shared_ptr<const Scorers> SharedScorers::get(const TrainedNetwork& trained, const ScorerChoice& choice,
                                                  int threads) {
  const std::lock_guard lock(mutex_);
  std::erase_if(used_, [](const auto& one) { return one.second.expired(); });
  for (const auto& [of, held] : used_) {
    if (of != choice) continue;
    if (auto scorers = held.lock()) return scorers;
  }
  auto scorers = std::make_shared<const Scorers>(trained, choice, threads);
  used_.emplace_back(choice, scorers);
  ++made_;
  return scorers;
}

std::size_t SharedScorers::made() const {
  const std::lock_guard lock(mutex_);
  return made_;
}

}  // namespace slide
