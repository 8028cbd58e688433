#include "engine/network/active_set.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace slide {

void ActiveSet::reserve(std::size_t neurons, std::size_t label_entries, std::size_t samples) {
  ids.reserve(neurons);
  correction.reserve(neurons);
  label_positions.reserve(label_entries);
  label_offsets.reserve(samples + 1);
}

namespace {

// Lists the labels in [first, first + neurons) by sample, as positions label - first: those of sample s are
// positions[offsets[s] .. offsets[s + 1]).
void list_positions(std::span<const std::span<const std::uint32_t>> labels, std::size_t first,
                    std::size_t neurons, std::vector<std::uint32_t>& positions,
                    std::vector<std::uint32_t>& offsets) {
  positions.clear();
  offsets.assign(1, 0);
  for (const auto& of_sample : labels) {
    for (const std::uint32_t label : of_sample) {
      if (label >= first && label - first < neurons)
        positions.push_back(static_cast<std::uint32_t>(label - first));
    }
    offsets.push_back(static_cast<std::uint32_t>(positions.size()));
  }
}

}  // namespace

void ActiveSet::set_labels(std::span<const std::span<const std::uint32_t>> labels, std::size_t first,
                           std::size_t neurons) {
  list_positions(labels, first, neurons, label_positions, label_offsets);
}

void ActiveSet::set_masked(std::span<const std::span<const std::uint32_t>> labels, std::size_t first,
                           std::size_t neurons) {
  list_positions(labels, first, neurons, masked_positions, masked_offsets);
}

// Vose's method: each entry with a share below 1 (poor) takes the rest of its place from one with more
// (rich).
AliasTable::AliasTable(std::span<const std::uint32_t> weights)
    : accept_(weights.size(), 1.0f), alias_(weights.size(), 0), probability_(weights.size()) {
  const double total = std::max(1.0, std::accumulate(weights.begin(), weights.end(), 0.0));
  std::vector<double> share(weights.size());  // of the probability, in units of 1 / size
  std::vector<std::uint32_t> small, large;    // entries of share below 1, and others
  for (std::size_t i = 0; i < weights.size(); ++i) {
    probability_[i] = static_cast<float>(weights[i] / total);
    share[i] = weights[i] / total * double(weights.size());
    (share[i] < 1.0 ? small : large).push_back(static_cast<std::uint32_t>(i));
  }
  while (!small.empty() && !large.empty()) {
    const std::uint32_t poor = small.back(), rich = large.back();
    small.pop_back();
    accept_[poor] = static_cast<float>(share[poor]);
    alias_[poor] = rich;
    share[rich] -= 1.0 - share[poor];
    if (share[rich] >= 1.0) continue;
    large.pop_back();
    small.push_back(rich);
  }
}

std::uint32_t AliasTable::draw(Rng& rng) const {
  const std::uint32_t i = rng.below(static_cast<std::uint32_t>(accept_.size()));
  return rng.uniform() < accept_[i] ? i : alias_[i];
}

namespace {

// Draws by frequency are with replacement: more draws than neurons still add rare neurons. Draws beyond this
// number and the number of neurons cost time and change little.
constexpr std::size_t kMaxRepeatedDraws = std::size_t{1} << 16;

}  // namespace

ActiveSampler::ActiveSampler(const LayerConfig& config, std::size_t neurons,
                             std::span<const std::uint32_t> frequencies, std::size_t first_label)
    : config_(config), neurons_(neurons), first_label_(first_label) {
  config_.frequency = static_cast<std::uint32_t>(
      std::min<std::size_t>(config.frequency, std::max(neurons, kMaxRepeatedDraws)));
  const bool any = std::ranges::any_of(frequencies, [](std::uint32_t count) { return count > 0; });
  if (config.frequency > 0 && any) alias_.emplace(frequencies);
}

namespace {

// Max candidates of one part: one scratch serves all parts of a layer, whose shares of config.lsh differ by
// at most one.
std::size_t largest_share(const LayerConfig& config) {
  return std::size_t{config.lsh} + 1;
}

}  // namespace

SamplerScratch ActiveSampler::make_scratch(const lsh::NeuronIndex* index, std::size_t lanes) const {
  SamplerScratch scratch;
  scratch.seen = lsh::IdSet(neurons_);
  scratch.position = AlignedArray<std::uint32_t>(neurons_);
  if (index != nullptr) scratch.query = index->make_scratch(lanes, largest_share(config_));
  return scratch;
}

std::size_t ActiveSampler::drawn(const LayerConfig& config, std::size_t neurons) {
  return std::min<std::size_t>(neurons, std::size_t{config.lsh} + config.uniform + config.frequency);
}

double ActiveSampler::scratch_bytes_of(const LayerConfig& config, std::size_t neurons, std::size_t inputs,
                                       std::size_t lanes) {
  const double marks = double(lsh::IdSet::bytes_of(neurons)) + double(neurons) * sizeof(std::uint32_t);
  if (config.lsh == 0) return marks;
  return marks +
         lsh::NeuronIndex::scratch_bytes_of(config.hash, neurons, inputs, lanes, largest_share(config));
}

// Source by source: a neuron counts for the first source that chooses it.
void ActiveSampler::select(const ActiveQuery& query, const lsh::NeuronIndex* index, Rng rng,
                           SamplerScratch& scratch, ActiveSet& set) const {
  set.ids.clear();
  set.correction.clear();
  scratch.seen.clear();
  std::size_t counted = 0;
  // Number of ids that were added since the last call.
  const auto count_added = [&] { return double(set.ids.size() - std::exchange(counted, set.ids.size())); };
  add_labels(query, scratch, set);
  set.sources.labels = count_added();
  if (index != nullptr && config_.lsh > 0) add_candidates(query, *index, rng, scratch, set);
  set.correction.resize(set.ids.size(), 0.0f);
  set.sources.tables = count_added();
  if (alias_) add_frequent(rng, scratch, set);
  set.sources.frequency = count_added();
  add_uniform(rng, scratch, set);
  set.sources.uniform = count_added();
  if (!query.masked.empty()) find_masked(query, scratch, set);
}

// Sets masked_positions and masked_offsets: the masked neurons that are active.
void ActiveSampler::find_masked(const ActiveQuery& query, SamplerScratch& scratch, ActiveSet& set) const {
  for (std::size_t place = 0; place < set.ids.size(); ++place)
    scratch.position[set.ids[place]] = static_cast<std::uint32_t>(place);
  set.masked_positions.clear();
  set.masked_offsets.assign(1, 0);
  for (const auto& of_sample : query.masked) {
    for (const std::uint32_t label : of_sample) {
      const auto id = static_cast<std::uint32_t>(label - first_label_);
      if (label >= first_label_ && id < neurons_ && scratch.seen.contains(id))
        set.masked_positions.push_back(scratch.position[id]);
    }
    set.masked_offsets.push_back(static_cast<std::uint32_t>(set.masked_positions.size()));
  }
}

// Adds the labels of all samples, each neuron once, and lists their positions by sample.
void ActiveSampler::add_labels(const ActiveQuery& query, SamplerScratch& scratch, ActiveSet& set) const {
  set.label_positions.clear();
  set.label_offsets.assign(1, 0);
  for (const auto& labels : query.labels) {
    for (const std::uint32_t label : labels) {
      const auto id = static_cast<std::uint32_t>(label - first_label_);
      if (label < first_label_ || id >= neurons_) continue;
      if (scratch.seen.insert(id)) {
        scratch.position[id] = static_cast<std::uint32_t>(set.ids.size());
        set.ids.push_back(id);
      }
      set.label_positions.push_back(scratch.position[id]);
    }
    set.label_offsets.push_back(static_cast<std::uint32_t>(set.label_positions.size()));
  }
}

// Dense input: one query for the block. Sparse input: one query per sample, with an equal share of what is
// left.
void ActiveSampler::add_candidates(const ActiveQuery& query, const lsh::NeuronIndex& index, Rng& rng,
                                   SamplerScratch& scratch, ActiveSet& set) const {
  if (query.dense.xt != nullptr) {
    index.query(query.dense, config_.lsh, rng, scratch.query, scratch.seen, set.ids);
    return;
  }
  const std::size_t end = set.ids.size() + config_.lsh;
  for (std::size_t s = 0; s < query.sparse.size(); ++s) {
    const std::size_t share = (end - set.ids.size()) / (query.sparse.size() - s);
    const SparseRow& row = query.sparse[s];
    index.query_sparse(row.ids, row.values, share, rng, scratch.query, scratch.seen, set.ids);
  }
}

// Draws negatives by frequency, with replacement. Without uniform negatives, each gets the logQ correction
// logq_power * max(0, -log(n q)), for n draws of probability q (sampled softmax: Bengio and Senecal 2008).
// With uniform negatives it represents itself only.
void ActiveSampler::add_frequent(Rng& rng, SamplerScratch& scratch, ActiveSet& set) const {
  const bool corrects = config_.logq_correction && config_.uniform == 0;
  for (std::uint32_t i = 0; i < config_.frequency; ++i) {
    const std::uint32_t id = alias_->draw(rng);
    if (!scratch.seen.insert(id)) continue;
    set.ids.push_back(id);
    const double expected = double(config_.frequency) * alias_->probability(id);
    set.correction.push_back(
        corrects ? static_cast<float>(config_.logq_power * std::max(0.0, -std::log(expected))) : 0.0f);
  }
}

// Adds config_.uniform neurons (or all that are left), uniform without replacement among the `rest` neurons
// outside the set. Their logQ correction is logq_power * log(rest / wanted).
void ActiveSampler::add_uniform(Rng& rng, SamplerScratch& scratch, ActiveSet& set) const {
  const std::size_t rest = neurons_ - set.ids.size();
  const std::size_t wanted = std::min<std::size_t>(config_.uniform, rest);
  if (wanted == 0) return;
  const std::size_t end_size = set.ids.size() + wanted;
  const auto neurons = static_cast<std::uint32_t>(neurons_);
  if (wanted * 2 < rest) {
    while (set.ids.size() < end_size) {
      const std::uint32_t id = rng.below(neurons);
      if (scratch.seen.insert(id)) set.ids.push_back(id);
    }
  } else {
    // At least half of the rest is wanted: selection sampling (Knuth, volume 2, 3.4.2, algorithm S).
    std::size_t left = rest;
    for (std::uint32_t id = 0; id < neurons && set.ids.size() < end_size; ++id) {
      if (scratch.seen.contains(id)) continue;
      const std::size_t missing = end_size - set.ids.size();
      if (rng.uniform() * double(left--) < double(missing)) set.ids.push_back(id);
    }
  }
  const float correction =
      config_.logq_correction
          ? static_cast<float>(config_.logq_power * std::log(double(rest) / double(wanted)))
          : 0.0f;
  set.correction.resize(set.ids.size(), correction);
}

}  // namespace slide
