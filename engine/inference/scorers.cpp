#include "engine/inference/scorers.h"

#include <algorithm>

#include "engine/inference/bounded_scorer.h"
#include "engine/inference/candidate_scorer.h"
#include "engine/inference/full_scorer.h"
#include "engine/inference/probability.h"

namespace slide {

namespace {

// Numbers of rounded rows to keep without a linear term: all long rows (RowsByLength::long_rows), but at
// least kMinKept, and without low latency at most kManyKept or 1/kKeptShare of all rows.
constexpr std::size_t kMinKept = 8192, kManyKept = 65536, kKeptShare = 16;

std::size_t most_kept(std::size_t rows) {
  return std::min(rows, std::max(kManyKept, rows / kKeptShare));
}

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

// With as many candidates as labels, kLsh scores all neurons without an index.
Scorers::Scorers(const TrainedNetwork& trained, const ScorerChoice& choice, int threads) {
  if (choice.mode == Inference::kFull) {
    choose_full(trained, choice, threads);
  } else if (choice.candidates >= trained.network.labels()) {
    batch_scorer_ = single_scorer_ = &add<FullScorer>(trained.network, threads);
  } else {
    batch_scorer_ = single_scorer_ =
        &add<CandidateScorer>(trained.network, choice.candidates, choice.bound_first, threads);
  }
}

// Number of rows to keep a rounded copy of. With a linear term any row can be among the best of a sample:
// all or none.
std::size_t Scorers::kept_rows(const FullScorer& full, bool low_latency) const {
  const std::size_t rows = full.output().size();
  if (!by_length_) return low_latency ? rows : 0;
  return std::max(kMinKept, std::min(by_length_->long_rows, low_latency ? rows : most_kept(rows)));
}

// Sets batch_scorer_ and single_scorer_ to the exact scorer, or to bounded ones where bounds
// exist, are asked for and save time.
void Scorers::choose_full(const TrainedNetwork& trained, const ScorerChoice& choice, int threads) {
  const Network& network = trained.network;
  const FullScorer& full = add<FullScorer>(network, threads);
  batch_scorer_ = single_scorer_ = &full;
  // Bounds do not give the softmax normaliser that kNN votes need, and require a hidden layer.
  const bool needs_all = trained.neighbours != nullptr && is_normalised(network.config().loss.kind);
  if (needs_all || !has_whole_input(network)) return;
  if (!choice.bound_first && !choice.low_latency) return;
  if (full.postings() != nullptr) {
    bounds_ = bounds_of(*full.postings(), full.output().size(), threads);
  } else {
    by_length_ = rows_by_length(full.output(), threads);
  }
  const std::span<const std::uint32_t> order = by_length_ ? by_length_->ids : full.output().all_neurons();
  const std::size_t kept = kept_rows(full, choice.low_latency);
  const auto bounded = [&](BatchBounds::Form form) {
    return &add<BoundedScorer>(full, network, order, bounds_, kept, form, threads);
  };
  const BatchBounds::Form form = BatchBounds::fastest(network.output());
  // A single sample needs kept rows: rounding them for it takes longer than its exact scores. It reads the
  // fewest bytes as int8.
  const bool keeps_all = by_length_ ? kept >= by_length_->long_rows : choice.low_latency;
  const BoundedScorer* single = keeps_all ? bounded(BatchBounds::Form::kInt8) : nullptr;
  if (single != nullptr && single->bounded()) single_scorer_ = single;
  if (!choice.bound_first) return;
  const bool shared = single != nullptr && form == BatchBounds::Form::kInt8;
  const BoundedScorer* batched = shared ? single : bounded(form);
  if (batched->bounded()) batch_scorer_ = batched;
}

double Scorers::bounds_bytes_of(std::size_t neurons, std::size_t inputs) {
  const std::size_t kept = most_kept(neurons);
  const double order = 2 * sizeof(std::uint32_t);  // with the keys
  return double(neurons) * order + BatchBounds::bytes_of(neurons, kept, inputs, WideBounds::kGroup);
}

std::size_t Scorers::bytes() const {
  std::size_t bytes = bounds_ ? bounds_->bytes() : 0;
  if (by_length_) bytes += by_length_->ids.size() * sizeof(std::uint32_t);
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
