#include "engine/inference/inference.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/inference/auto_inference.h"
#include "engine/inference/bounded_pass.h"
#include "engine/inference/candidate_scorer.h"
#include "engine/inference/full_scorer.h"

namespace slide {

namespace {

constexpr std::size_t kBestAtOnce = 1ULL << 21;  // max labels kept for a batch of more than one block

}  // namespace

// Resolves the mode and makes or shares its scorers. Under kAuto, calls that need all neurons get them in
// addition (all_neurons_).
Predictor::Predictor(const TrainedNetwork& trained, const InferenceOptions& options)
    : trained_(trained),
      options_(options),
      steps_(trained.network.config().loss.kind,
             options.cooccurrence ? knn_with_cooccurrence(trained.neighbours) : nullptr, trained.calibration,
             static_cast<std::uint32_t>(trained.network.parts().own_neurons().first)),
      popular_(trained) {
  const Network& network = trained_.network;
  const Inference mode = resolved(wanted());
  if (mode == Inference::kLsh && CandidateScorer::asks_training_tables(network) &&
      network.output().index() == nullptr) {
    fail_input(
        "inference = lsh needs hash tables, but the only layer is not sampled by lsh; use inference = full");
  }
  const int threads = resolve_threads(options_.threads);
  scorers_ = options_.shared != nullptr ? options_.shared->get(trained_, choice(mode), threads)
                                        : std::make_shared<const Scorers>(trained_, choice(mode), threads);
  if (mode == Inference::kLsh && options_.mode == Inference::kAuto && options_.candidates < network.labels())
    all_neurons_ = std::make_unique<AllNeurons>();
}

// Options that do not matter are as if not given: more predictors can share.
ScorerChoice Predictor::choice(Inference mode) const {
  if (mode == Inference::kLsh) return {mode, options_.candidates, false, options_.bound_first.value_or(true)};
  const Layer& output = trained_.network.output();
  const bool bound_first = options_.bound_first.value_or(output.size() >= BoundedPass::kMinNeurons);
  return {mode, 0, options_.low_latency, bound_first};
}

Inference Predictor::resolved(const Wanted& wanted) const {
  const bool norms = wanted.log_softmax || options_.log_norms != nullptr;
  return resolved_inference(options_.mode, trained_.network, {wanted.k, options_.candidates, norms});
}

Inference Predictor::inference(const Wanted& wanted) const {
  const bool indexed = all_neurons_ != nullptr || options_.mode == Inference::kLsh;
  if (!indexed || (options_.mode == Inference::kAuto && wanted.exact)) return Inference::kFull;
  return resolved(wanted);
}

const Scorer& Predictor::scorer_of(std::size_t lanes, bool exact) const {
  if (!exact) return lanes == 1 ? scorers_->for_single() : scorers_->for_batches();
  std::call_once(all_neurons_->once,
                 [&] { all_neurons_->scorer = std::make_unique<FullScorer>(trained_.network, 1); });
  return *all_neurons_->scorer;
}

std::size_t Predictor::index_bytes() const {
  return scorers_->bytes();
}

void Predictor::check(const Dataset& data) const {
  if (data.dense_count() != trained_.network.dense()) {
    fail_input("the data has {} dense columns, the model {}; use features of the same kind",
               data.dense_count(), trained_.network.dense());
  }
  if (data.feature_count() > trained_.network.sample_features()) {
    fail_input("the data has {} features, the model knows {}; use data with the model's feature ids",
               data.feature_count(), trained_.network.sample_features());
  }
}

std::size_t Predictor::max_known(const Dataset& data, std::size_t first, std::size_t end) const {
  if (!of_items()) return 0;
  std::size_t largest = 0;
  for (std::size_t i = first; i < end; ++i) largest = std::max(largest, data.features(i).ids.size());
  return largest;
}

// Max samples of a block in batched prediction.
std::size_t Predictor::block_lanes() const {
  if (!options_.by_row) return PredictionBatch::kLanes;
  return has_whole_input(trained_.network) ? PredictionBatch::kLanesByRow
                                           : 1;  // a first layer by neuron sums over the block's features
}

// Grows the working memory for batches of `blocks` x `lanes` samples; keeps it where it suffices.
Predictor::Scratch::Work& Predictor::reserve(std::size_t blocks, std::size_t lanes, std::size_t entries,
                                             bool exact, Scratch& scratch) const {
  std::unique_ptr<Scratch::Work>& work = scratch.work(lanes, exact);
  if (!work) work = std::make_unique<Scratch::Work>();
  const bool more_blocks = work->batch.blocks.size() < blocks;
  work->batch.by_row = options_.by_row;
  work->batch.reserve(trained_, blocks, lanes, entries);
  if (!more_blocks) return *work;
  work->scorer = &scorer_of(lanes, exact);
  work->scorer_scratch = work->scorer->make_scratch(blocks, lanes);
  return *work;
}

void Predictor::predict(const Dataset& data, const Sink& sink) const {
  std::vector<Scratch> scratch;
  predict(data, scratch, sink);
}

void Predictor::predict(const Dataset& data, std::vector<Scratch>& scratch, const Sink& sink) const {
  predict(data, wanted(), scratch, sink);
}

// Divides the samples into batches of blocks, and predicts the batches in parallel, one scratch per thread.
void Predictor::predict(const Dataset& data, const Wanted& wanted, std::vector<Scratch>& scratch,
                        const Sink& sink) const {
  check(data);
  const std::size_t lanes = block_lanes(), groups = (data.size() + lanes - 1) / lanes;
  const auto max_threads = static_cast<std::size_t>(resolve_threads(options_.threads));
  // Enough work units for all threads, with bounded memory.
  const std::size_t blocks = std::clamp<std::size_t>(
      std::min(groups / max_threads, kBestAtOnce / (lanes * steps_.kept_for(wanted.k, 0, rare_of(wanted)))),
      1, lanes == 1 ? 1 : PredictionBatch::kMaxBlocks);
  const std::size_t batches = (groups + blocks - 1) / blocks, size = blocks * lanes;
  const std::size_t threads = std::max<std::size_t>(1, std::min(batches, max_threads));
  const std::size_t largest = max_entries(trained_.network, data, lanes),
                    entries = options_.by_row ? std::bit_ceil(largest) : largest;
  if (scratch.size() < threads) scratch.resize(threads);
  if (options_.log_norms != nullptr) options_.log_norms->resize(data.size());
  const bool exact = all_neurons_ != nullptr && inference(wanted) == Inference::kFull;
  for (std::size_t t = 0; t < threads; ++t) reserve(blocks, lanes, entries, exact, scratch[t]);
  parallel_for(batches, static_cast<int>(threads), [&](std::size_t p, int thread) {
    predict_batch(data, p * size, std::min(data.size(), (p + 1) * size), wanted,
                  *scratch[static_cast<std::size_t>(thread)].work(lanes, exact), sink);
    if (options_.progress) options_.progress(std::min(data.size(), (p + 1) * size) - p * size);
  });
}

void Predictor::predict(const Dataset& data, const Wanted& wanted, Scratch& scratch, const Sink& sink) const {
  check(data);
  const bool alone = data.size() == 1 && !options_.by_row;
  const std::size_t lanes = alone ? 1 : block_lanes(), blocks = lanes == 1 ? 1 : PredictionBatch::kMaxBlocks;
  const bool exact = all_neurons_ != nullptr && inference(wanted) == Inference::kFull;
  // Powers of two, so that growing requests rarely reallocate.
  Scratch::Work& work =
      reserve(blocks, lanes, std::bit_ceil(max_entries(trained_.network, data, lanes)), exact, scratch);
  for (std::size_t first = 0; first < data.size(); first += blocks * lanes)
    predict_batch(data, first, std::min(data.size(), first + blocks * lanes), wanted, work, sink);
}

// Predicts the samples [first, end) of `data`. Scores of a sample pass, in this order: softmax normalisation,
// kNN votes, AnswerSteps. Samples without features get popular items.
void Predictor::predict_batch(const Dataset& data, std::size_t first, std::size_t end, const Wanted& wanted,
                              Scratch::Work& work, const Sink& sink) const {
  PredictionBatch& batch = work.batch;
  const LossKind loss = trained_.network.config().loss.kind;
  const bool keep = options_.keep_known || wanted.keep_known;
  const std::size_t known = keep ? 0 : max_known(data, first, end);
  const RareRanking* rare = rare_of(wanted);
  batch.k = steps_.kept_for(wanted.k, known, rare);
  std::vector<double>* log_norms = options_.log_norms;
  batch.log_softmax = log_norms != nullptr || (batch.votes ? is_normalised(loss) : wanted.log_softmax);
  batch.begin(trained_.network, data, first, end);
  work.scorer->score(batch, *work.scorer_scratch);
  for (std::size_t i = 0; i < batch.samples; ++i) {
    TopK& best = batch.best[i];
    const double log_norm = batch.log_softmax ? batch.log_norm[i] : 0.0;
    best.finish(work.top_k);
    if (log_norms != nullptr) {
      (*log_norms)[first + i] = log_norm;
    } else if (batch.log_softmax) {
      best.shift(static_cast<float>(-log_norm));
    }
    if (batch.votes) batch.votes->mix(i, log_norm, best);
    best.keep_finite();
    if (!popular_.empty() && data.features(first + i).ids.empty()) {
      if (log_norms != nullptr) (*log_norms)[first + i] = popular_.log_norm();
      sink(first + i, popular_.ranked().first(std::min(wanted.k, popular_.ranked().size())));
      continue;
    }
    const std::span<const std::uint32_t> items = data.features(first + i).ids;
    sink(first + i,
         steps_.answer(best.best(), items.first(known == 0 ? 0 : items.size()), wanted.k, rare, work.steps));
  }
}

std::function<void(std::size_t samples)> summed_progress(Progress report, std::size_t all) {
  if (!report) return {};
  const auto done = std::make_shared<std::atomic<std::size_t>>(0);
  return [done, all, report = std::move(report)](std::size_t samples) {
    report(done->fetch_add(samples, std::memory_order_relaxed) + samples, all);
  };
}

Ranking ranked(const Predictor& predictor, const Dataset& data, const LabelPairs& pairs) {
  Ranking ranking(data.size(), predictor.options().k - pairs.max_per_sample());
  predictor.predict(
      data, [&](std::size_t sample, std::span<const Prediction> best) { ranking.add(sample, best, pairs); });
  return ranking;
}

Metrics evaluate(const Predictor& predictor, const Dataset& data, std::span<const std::uint32_t> ks,
                 Metrics::Propensities inverse_propensities, Metrics::Groups groups) {
  Metrics empty({ks.begin(), ks.end()}, std::move(inverse_propensities), std::move(groups));
  if (predictor.of_items()) empty.include_first_hits();
  return measured(ranked(predictor, data), data, std::move(empty));
}

Metrics evaluate(const TrainedNetwork& trained, const Dataset& data, const InferenceOptions& options,
                 std::span<const std::uint32_t> ks, Metrics::Propensities inverse_propensities,
                 Metrics::Groups groups) {
  InferenceOptions wanted = options;
  wanted.k = *std::max_element(ks.begin(), ks.end());
  return evaluate(Predictor(trained, wanted), data, ks, std::move(inverse_propensities), std::move(groups));
}

}  // namespace slide
