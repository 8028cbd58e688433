#include "engine/inference/shared_predictor.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/crosses/feature_transform.h"
#include "engine/network/part_sums.h"

namespace slide {

namespace {

constexpr std::size_t kMaxAtOnce = 4096;           // max samples per exchange
constexpr std::size_t kLabelsAtOnce = 1ULL << 21;  // max labels per exchange, unless one block has more
constexpr std::size_t kLanes = 128;                // samples per block
constexpr Prediction kNone{UINT32_MAX, -std::numeric_limits<float>::infinity()};

}  // namespace

// Sums the hidden units of each sample over all shards.
class SharedPredictor::HiddenSums {
 public:
  HiddenSums(Cluster& cluster, const Network& network, std::size_t at_once, int threads)
      : network_(network),
        threads_(threads),
        sums_(network.parts(), at_once / kLanes, kLanes, network.input()->size(), &cluster, 0),
        scratch_(static_cast<std::size_t>(std::max(threads, 1))) {}

  // Sums the first layer's pre-activations [samples x size] over the shards of features: own parts first,
  // then over all processes.
  void fill(const Dataset& data, HiddenRows& rows) {
    const std::size_t size = network_.input()->size(), blocks = (data.size() + kLanes - 1) / kLanes;
    parallel_for(data.size(), threads_, [&](std::size_t i, int thread) {
      add_parts(data.features(i), i, scratch_[static_cast<std::size_t>(thread)]);
    });
    sums_.start(blocks, threads_);
    sums_.reduce(threads_);
    sums_.finish();
    rows.width = size;
    rows.sums.resize(data.size() * size);
    for (std::size_t i = 0; i < data.size(); ++i)
      kernels::active().widen(sums_.row(i / kLanes, i % kLanes), size, rows.sums.data() + i * size);
  }

 private:
  struct Scratch {
    std::vector<float> values, sums;
    std::vector<std::uint32_t> ids, paired_ids;
    std::vector<float> paired_values;
  };
  // Writes sample i's sum over the features of each own shard to its partial sum, rounded to bfloat16.
  void add_parts(const SparseRow& row, std::size_t i, Scratch& scratch) {
    const std::size_t size = network_.input()->size();
    scratch.values.clear();
    scratch.ids.clear();
    scratch.paired_ids.clear();
    scratch.paired_values.clear();
    const SparseRow crossed = crosses_of(network_).crossed(row, scratch.paired_ids, scratch.paired_values);
    scratch.values.reserve(crossed.ids.size());
    scratch.ids.reserve(crossed.ids.size());
    const SparseRow own =
        network_.own_features(scale_of(network_).scaled(crossed, scratch.values), scratch.ids);
    for (std::size_t part = 0; part < network_.parts().own.count; ++part) {
      scratch.sums.assign(network_.input()->ldo(), 0.0f);
      network_.input()->add_features(own, network_.features_of(part), scratch.sums.data());
      kernels::active().narrow_nearest(scratch.sums.data(), size,
                                       sums_.partial(i / kLanes, part, i % kLanes));
    }
  }

  const Network& network_;
  int threads_;
  PartSums sums_;
  std::vector<Scratch> scratch_;
};

void require_shared_evaluation(const Config& config) {
  if (config.neighbours.share == 0 || !is_normalised(config.loss.kind)) return;
  fail_input(
      "several processes cannot evaluate neighbours.share = {} under softmax; set it to 0, or loss.kind = "
      "\"sigmoid\"",
      config.neighbours.share);
}

namespace {

// A multiple of the block size.
std::size_t samples_at_once(const Cluster& cluster, std::size_t k) {
  const std::size_t samples = kLabelsAtOnce / (k * static_cast<std::size_t>(cluster.size()));
  return std::clamp(samples / kLanes * kLanes, kLanes, kMaxAtOnce);
}

// What each process predicts its own labels with.
TrainedNetwork of_part(TrainedNetwork trained, const HiddenRows& rows) {
  if (trained.network.input()) trained.hidden = &rows;
  trained.calibration.reset();  // AnswerSteps of merged labels
  return trained;
}

InferenceOptions of_part(InferenceOptions options, std::size_t k, std::vector<double>& norms) {
  if (std::exchange(options.log_softmax, false)) options.log_norms = &norms;
  options.k = k;
  options.cooccurrence = false;  // AnswerSteps of merged labels, as the next two
  options.rare = nullptr;
  options.keep_known = true;
  return options;
}

AnswerSteps steps_of(const TrainedNetwork& trained, const InferenceOptions& options) {
  const Neighbours* knn = options.cooccurrence ? knn_with_cooccurrence(trained.neighbours) : nullptr;
  return {trained.network.config().loss.kind, knn, trained.calibration, 0};
}

}  // namespace

SharedPredictor::SharedPredictor(Cluster& cluster, const TrainedNetwork& trained,
                                 const InferenceOptions& options)
    : cluster_(cluster),
      wanted_(options.k),
      keep_known_(options.keep_known),
      popular_(PopularItems::are_given(trained)),
      steps_(steps_of(trained, options)),
      rare_(options.rare),
      k_(steps_.kept_for(wanted_, 0, rare_.get())),
      at_once_(samples_at_once(cluster, k_)),
      first_label_(static_cast<std::uint32_t>(trained.network.parts().own_neurons().first)),
      predictor_(of_part(trained, rows_), of_part(options, k_, norms_)) {
  require_shared_evaluation(trained.network.config());
  if (trained.network.input())
    sums_ =
        std::make_unique<HiddenSums>(cluster, trained.network, at_once_, resolve_threads(options.threads));
}

SharedPredictor::~SharedPredictor() = default;

void SharedPredictor::predict(const Dataset& data, const Predictor::Sink& sink) {
  k_ = steps_.kept_for(wanted_, keep_known_ ? 0 : predictor_.max_known(data, 0, data.size()), rare_.get());
  const std::size_t at_once = std::min(at_once_, samples_at_once(cluster_, k_));
  for (std::size_t first = 0; first < data.size(); first += at_once)
    predict_part(data.slice(first, std::min(at_once, data.size() - first)), first, sink);
}

// Order: sums of hidden activations, top k of the own neurons, all-gather of all top k, softmax normalisers,
// then per sample merge and AnswerSteps.
void SharedPredictor::predict_part(const Dataset& part, std::size_t first, const Predictor::Sink& sink) {
  if (sums_) sums_->fill(part, rows_);
  own_.assign(part.size() * k_, kNone);
  Predictor::Wanted wanted = predictor_.wanted();
  wanted.k = k_;
  predictor_.predict(part, wanted, scratch_, [&](std::size_t sample, std::span<const Prediction> found) {
    for (std::size_t i = 0; i < found.size(); ++i)
      own_[sample * k_ + i] = {found[i].label + first_label_, found[i].score};
  });
  all_.resize(own_.size() * static_cast<std::size_t>(cluster_.size()));
  cluster_.all_gather(std::as_bytes(std::span(own_)), std::as_writable_bytes(std::span(all_)));
  if (predictor_.options().log_norms != nullptr) add_up_norms(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) {
    merge(part.size(), i);
    sink(first + i, answer(part, i));
  }
}

// The answer of the merged labels.
std::span<const Prediction> SharedPredictor::answer(const Dataset& part, std::size_t sample) {
  const std::span<const std::uint32_t> items = part.features(sample).ids;
  if (popular_ && items.empty())
    return std::span<const Prediction>(best_).first(std::min(wanted_, best_.size()));
  const bool known = predictor_.of_items() && !keep_known_;
  return steps_.answer(best_, items.first(known ? items.size() : 0), wanted_, rare_.get(), steps_scratch_);
}

// log(e^a + e^b + ...) of the ranks' log-norms, in rank order.
void SharedPredictor::add_up_norms(std::size_t samples) {
  all_norms_.resize(samples * static_cast<std::size_t>(cluster_.size()));
  cluster_.all_gather(std::as_bytes(std::span(norms_)), std::as_writable_bytes(std::span(all_norms_)));
  for (std::size_t i = 0; i < samples; ++i) {
    double sum = all_norms_[i];
    for (std::size_t at = samples + i; at < all_norms_.size(); at += samples)
      sum = log_of_sum(sum, all_norms_[at]);
    norms_[i] = sum;
  }
}

// Merges the top k_ of each rank.
void SharedPredictor::merge(std::size_t samples, std::size_t sample) {
  best_.clear();
  for (std::size_t at = sample * k_; at < all_.size(); at += samples * k_)
    best_.insert(best_.end(), all_.begin() + static_cast<std::ptrdiff_t>(at),
                 all_.begin() + static_cast<std::ptrdiff_t>(at + k_));
  std::erase_if(best_, [](const Prediction& one) { return one.label == kNone.label; });
  const std::size_t kept = std::min(k_, best_.size());
  std::partial_sort(best_.begin(), best_.begin() + static_cast<std::ptrdiff_t>(kept), best_.end(),
                    ranks_before);
  best_.resize(kept);
  if (predictor_.options().log_norms != nullptr)
    for (Prediction& one : best_) one.score = static_cast<float>(one.score - norms_[sample]);
}

Ranking ranked_shared(Cluster& cluster, const TrainedNetwork& trained, const Dataset& data,
                      const InferenceOptions& options, const LabelPairs& pairs) {
  Ranking ranking(data.size(), options.k - pairs.max_per_sample());
  SharedPredictor predictor(cluster, trained, options);
  predictor.predict(
      data, [&](std::size_t sample, std::span<const Prediction> best) { ranking.add(sample, best, pairs); });
  return ranking;
}

Metrics evaluate_shared(Cluster& cluster, const TrainedNetwork& trained, const Dataset& data,
                        const InferenceOptions& options, std::span<const std::uint32_t> ks,
                        Metrics::Propensities inverse_propensities, Metrics::Groups groups) {
  InferenceOptions wanted = options;
  wanted.k = *std::max_element(ks.begin(), ks.end());
  return measured(ranked_shared(cluster, trained, data, wanted), data,
                  Metrics({ks.begin(), ks.end()}, std::move(inverse_propensities), std::move(groups)));
}

}  // namespace slide
