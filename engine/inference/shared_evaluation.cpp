#include "engine/inference/shared_evaluation.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/network/part_sums.h"

namespace slide {

namespace {

constexpr std::size_t kChunk = 4096;  // samples that are exchanged at a time
constexpr std::size_t kLanes = 128;   // of a block of them
constexpr Prediction kNone{UINT32_MAX, -std::numeric_limits<float>::infinity()};

// What all parts add to the hidden units of each sample.
class HiddenSums {
 public:
  HiddenSums(Cluster& cluster, const Network& network, int threads)
      : network_(network),
        threads_(threads),
        sums_(network.parts(), kChunk / kLanes, kLanes, network.input()->size(), &cluster, 0),
        scratch_(static_cast<std::size_t>(std::max(threads, 1))) {}

  void fill(const Dataset& data, HiddenRows& rows) {
    const std::size_t size = network_.input()->size(), blocks = (data.size() + kLanes - 1) / kLanes;
    parallel_for(data.size(), threads_, [&](std::size_t i, int thread) {
      add_parts(data.features(i), i, scratch_[static_cast<std::size_t>(thread)]);
    });
    sums_.start(blocks, threads_);
    sums_.pass_on(threads_);
    sums_.finish();
    rows.width = size;
    rows.sums.resize(data.size() * size);
    for (std::size_t i = 0; i < data.size(); ++i)
      kernels::active().widen(sums_.row(i / kLanes, i % kLanes), size, rows.sums.data() + i * size);
  }

 private:
  struct Scratch {
    std::vector<float> values, sums;
    std::vector<std::uint32_t> ids;
  };
  void add_parts(const SparseRow& row, std::size_t i, Scratch& scratch) {
    const std::size_t size = network_.input()->size();
    scratch.values.clear();
    scratch.ids.clear();
    scratch.values.reserve(row.ids.size());
    scratch.ids.reserve(row.ids.size());
    const SparseRow own =
        network_.own_features(network_.feature_scale().scaled(row, scratch.values), scratch.ids);
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

// The best of the best of all ranks, `k` of each.
void merge(std::span<const Prediction> all, std::size_t samples, std::size_t k, std::size_t sample,
           std::vector<Prediction>& best) {
  best.clear();
  for (std::size_t at = sample * k; at < all.size(); at += samples * k)
    best.insert(best.end(), all.begin() + static_cast<std::ptrdiff_t>(at),
                all.begin() + static_cast<std::ptrdiff_t>(at + k));
  std::erase_if(best, [](const Prediction& one) { return one.label == kNone.label; });
  const std::size_t kept = std::min(k, best.size());
  std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(kept), best.end(),
                    [](const Prediction& a, const Prediction& b) {
                      return a.score > b.score || (a.score == b.score && a.label < b.label);
                    });
  best.resize(kept);
}

}  // namespace

void require_shared_evaluation(const Config& config) {
  if (config.neighbours.share == 0 || !needs_log_softmax(config.loss.kind)) return;
  fail_input(
      "several processes cannot evaluate neighbours.share = {} under softmax; set it to 0, or loss.kind = "
      "\"sigmoid\"",
      config.neighbours.share);
}

Metrics evaluate_shared(Cluster& cluster, const TrainedNetwork& trained, const Dataset& data,
                        const InferenceOptions& options, std::span<const std::uint32_t> ks,
                        Metrics::Propensities inverse_propensities, Metrics::Groups groups) {
  require_shared_evaluation(trained.network.config());
  InferenceOptions wanted = options;
  const std::size_t k = wanted.k = *std::max_element(ks.begin(), ks.end());
  HiddenRows rows;
  TrainedNetwork with_rows = trained;
  std::optional<HiddenSums> sums;
  if (trained.network.input()) {
    with_rows.hidden = &rows;
    sums.emplace(cluster, trained.network, resolve_threads(options.threads));
  }
  const Predictor predictor(with_rows, wanted);
  const auto first_label = static_cast<std::uint32_t>(trained.network.parts().own_neurons().first);
  Metrics metrics({ks.begin(), ks.end()}, std::move(inverse_propensities), std::move(groups));
  std::vector<Prediction> own, all(0), best;
  std::vector<std::uint32_t> ranked;
  for (std::size_t first = 0; first < data.size(); first += kChunk) {
    const Dataset part = data.slice(first, std::min(kChunk, data.size() - first));
    if (sums) sums->fill(part, rows);
    own.assign(part.size() * k, kNone);
    predictor.predict(part, [&](std::size_t sample, std::span<const Prediction> found) {
      for (std::size_t i = 0; i < found.size(); ++i)
        own[sample * k + i] = {found[i].label + first_label, found[i].score};
    });
    all.resize(own.size() * static_cast<std::size_t>(cluster.size()));
    cluster.all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
    for (std::size_t i = 0; i < part.size(); ++i) {
      merge(all, part.size(), k, i, best);
      ranked.clear();
      for (const Prediction& one : best) ranked.push_back(one.label);
      metrics.add(ranked, part.labels(i));
    }
  }
  return metrics;
}

}  // namespace slide
