#include "engine/wide/linear_term.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/base/finite.h"
#include "engine/base/prefetch.h"

namespace slide {

// Prefetches the beginning of a neuron's arrays: of features and weights, in an update of weights and
// accumulators.
void LinearTerm::prefetch(std::uint32_t id, const float* sums) const {
  constexpr std::uint64_t kLine = kAlignment / sizeof(float);
  constexpr std::uint64_t kMax = 16 * kLine;  // the hardware prefetcher continues
  const std::uint64_t begin = storage_.offsets[id], end = std::min(storage_.offsets[id + 1], begin + kMax);
  const bool floats = storage_.small.empty();
  for (std::uint64_t i = begin; i < end; i += kLine) {
    if (floats) slide::prefetch(storage_.weights.data() + i);
    if (sums != nullptr) {
      slide::prefetch<Access::kWrite>(sums + i);
    } else {
      slide::prefetch(storage_.features.data() + i);
    }
  }
}

namespace {

// up to this many listed samples, a column's values are read one by one
constexpr std::size_t kFewSamples = 6;

// z[s] += weights[i] * x over the entries (s, x) of the i-th list of `Length` entries, positions places[i].
template <std::size_t Length>
void add_lists(const BlockFeatures& features, const std::uint32_t* places, const float* weights,
               std::size_t count, float* z) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t* samples = features.samples() + places[i];
    const float* values = features.values() + places[i];
    for (std::size_t e = 0; e < Length; ++e) z[samples[e]] += weights[i] * values[e];
  }
}

// g[i] = sum of x * d[s] over the entries of the i-th list.
template <std::size_t Length>
void dot_lists(const BlockFeatures& features, const std::uint32_t* places, std::size_t count, const float* d,
               float* g) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t* samples = features.samples() + places[i];
    const float* values = features.values() + places[i];
    float sum = 0.0f;
    for (std::size_t e = 0; e < Length; ++e) sum += values[e] * d[samples[e]];
    g[i] = sum;
  }
}

// g[i] = sum of x_s * d[s] over the `listed` samples s, for the i-th column x.
void dot_columns(const float* columns, const std::uint32_t* places, std::size_t count, std::size_t lanes,
                 const float* d, std::span<const std::uint32_t> listed, float* g) {
  for (std::size_t i = 0; i < count; ++i) {
    const float* column = columns + places[i] * lanes;
    float sum = 0.0f;
    for (const std::uint32_t s : listed) sum += column[s] * d[s];
    g[i] = sum;
  }
}

template <class T>
void grow(std::vector<T>& scratch, std::size_t size) {
  if (scratch.size() < size) scratch.resize(2 * size);
}

// Matches the pattern (ids, w) of neuron `at` with the block; returns the matches grouped by kind.
kernels::Parts match_pattern(const BlockFeatures& features, const std::uint32_t* ids, const float* w,
                             std::size_t count, TermHits::Neuron& at, TermHits& hits, TermScratch& scratch) {
  const auto& k = kernels::active();
  const std::size_t room = count + kernels::kLaneMultiple;
  grow(hits.masks, at.masks + room / 16);
  grow(scratch.columns, room);
  grow(scratch.weights, room);
  grow(scratch.columns_by_kind, kernels::kKinds * room);
  grow(scratch.weights_by_kind, kernels::kKinds * room);
  const std::size_t found =
      k.find_present(ids, w, count, features.present(), features.first(), hits.masks.data() + at.masks,
                     scratch.columns.data(), scratch.weights.data());
  grow(hits.kinds, at.kinds + (found / 16 + 1) * kernels::kKinds);
  grow(hits.places, at.places + found);
  kernels::Parts parts{};
  for (std::size_t kind = 0; kind < kernels::kKinds; ++kind) {
    parts.places[kind] = scratch.columns_by_kind.data() + kind * room;
    parts.weights[kind] = scratch.weights_by_kind.data() + kind * room;
  }
  k.part_kinds(scratch.columns.data(), scratch.weights.data(), found, features.places(),
               hits.kinds.data() + at.kinds, parts);
  std::uint32_t* places = hits.places.data() + at.places;
  for (std::size_t kind = 0; kind < kernels::kKinds; ++kind) {
    at.count[kind] = static_cast<std::uint32_t>(parts.count[kind]);
    places = std::copy_n(parts.places[kind], parts.count[kind], places);
  }
  return parts;
}

}  // namespace

// For each neuron: matches its pattern with the block; then adds the products, with a loop for each kind of
// match: dense columns [lanes], and lists of 2, 4 and 8 entries.
void LinearTerm::forward(const BlockFeatures& features, std::span<const std::uint32_t> ids, std::size_t lanes,
                         float* z, TermHits& hits, TermScratch& scratch) const {
  constexpr std::size_t kAhead = 4;  // neurons
  hits.neurons.resize(ids.size());
  TermHits::Neuron at;  // where the matches of the next neuron begin
  for (std::size_t a = 0; a < ids.size(); ++a, z += lanes) {
    if (a + kAhead < ids.size()) prefetch(ids[a + kAhead]);
    const std::uint64_t begin = storage_.offsets[ids[a]], count = storage_.offsets[ids[a] + 1] - begin;
    const bool small = !storage_.small.empty();
    if (small) {
      grow(scratch.pattern, count);
      storage_.small.load(ids[a], begin, count, scratch.pattern.data());
    }
    const float* weights = small ? scratch.pattern.data() : storage_.weights.data() + begin;
    const kernels::Parts matches =
        match_pattern(features, storage_.features.data() + begin, weights, count, at, hits, scratch);
    kernels::active().gather_rows(features.columns(), lanes, matches.places[0], matches.weights[0],
                                  matches.count[0], lanes, z);
    add_lists<2>(features, matches.places[1], matches.weights[1], matches.count[1], z);
    add_lists<4>(features, matches.places[2], matches.weights[2], matches.count[2], z);
    add_lists<8>(features, matches.places[3], matches.weights[3], matches.count[3], z);
    hits.neurons[a] = at;
    const std::size_t found = at.found();
    at.masks += (count + 15) / 16;
    at.kinds += (found + 15) / 16 * kernels::kKinds;
    at.places += found;
  }
}

// A sample as dense values by feature needs no match: a gather of the values at the features of each
// pattern.
void LinearTerm::add_scores(std::span<const std::uint32_t> ids, const float* by_feature,
                            std::vector<float>& weights, float* z) const {
  for (std::size_t a = 0; a < ids.size(); ++a) {
    const std::uint64_t begin = storage_.offsets[ids[a]], count = storage_.offsets[ids[a] + 1] - begin;
    const bool small = !storage_.small.empty();
    if (small) {
      grow(weights, count);
      storage_.small.load(ids[a], begin, count, weights.data());
    }
    z[a] += kernels::active().gather_dot(by_feature, storage_.features.data() + begin,
                                         small ? weights.data() : storage_.weights.data() + begin, count);
  }
}

// The gradient of a matched weight is the dot product of its feature's values and the output gradients d.
// Computes them kind by kind, joins them in the order of the pattern, and takes one Adagrad step.
void LinearTerm::update(std::uint32_t id, const BlockMatch& at, const Deltas& deltas, Step step,
                        std::span<float> sums, std::vector<float>& gradients) {
  const BlockFeatures& features = at.features;
  const TermHits& hits = at.hits;
  const std::size_t lanes = at.lanes;
  const float* d = deltas.d;
  const auto listed = deltas.listed;
  const TermHits::Neuron& neuron = hits.neurons[at.a];
  const auto& count = neuron.count;  // matches by kind
  const std::size_t found = neuron.found();
  if (found == 0) return;
  if (gradients.size() < 2 * found) gradients.resize(2 * found);
  // gradients [2 x found]: of the matches in the order of the pattern; before, of the same grouped by kind.
  const std::uint32_t* places[kernels::kKinds] = {hits.places.data() + neuron.places};
  float* parts[kernels::kKinds] = {gradients.data() + found};
  for (std::size_t kind = 1; kind < kernels::kKinds; ++kind) {
    places[kind] = places[kind - 1] + count[kind - 1];
    parts[kind] = parts[kind - 1] + count[kind - 1];
  }
  const auto& k = kernels::active();
  if (listed.empty() || listed.size() > kFewSamples) {
    k.rows_forward(features.columns(), lanes, places[0], count[0], nullptr, d, lanes, 1, parts[0]);
  } else {
    dot_columns(features.columns(), places[0], count[0], lanes, d, listed, parts[0]);
  }
  dot_lists<2>(features, places[1], count[1], d, parts[1]);
  dot_lists<4>(features, places[2], count[2], d, parts[2]);
  dot_lists<8>(features, places[3], count[3], d, parts[3]);
  k.join_kinds(hits.kinds.data() + neuron.kinds, found, parts, gradients.data());
  const std::uint64_t begin = storage_.offsets[id];
  k.adagrad_masked(storage_.weights.data() + begin, sums.data() + begin, hits.masks.data() + neuron.masks,
                   storage_.offsets[id + 1] - begin, gradients.data(), step.samples,
                   step.rate * static_cast<float>(config_.wide_rate));
}

// Each process adds the number of weights of the processes before it.
void put_shared_offsets(std::span<const std::uint64_t> offsets, ByteWriter& out) {
  const auto shares = out.shares_of(offsets.back());
  std::vector<std::uint64_t> ends(offsets.begin() + 1, offsets.end());
  for (std::uint64_t& end : ends) end += shares.before;
  out.put<std::uint64_t>(0);
  out.put_share(ends);
}

// CSR of all neurons of the network: count and array of offsets [neurons + 1], of feature ids [weights] and
// of weights [weights]. Each process writes its share of the arrays.
void LinearTerm::save(ByteWriter& out) const {
  const Storage& s = storage_;
  out.put<std::uint64_t>(out.shares_of(s.offsets.size() - 1).all + 1);
  put_shared_offsets(s.offsets, out);
  const std::uint64_t weights = out.shares_of(s.weights.size()).all;
  out.put(weights);
  out.put_share(s.features);
  out.put(weights);
  out.put_share(s.weights);
}

// Reads the shares of the own neurons from the arrays of all neurons.
std::uint64_t LinearTerm::load(ByteReader& in, std::size_t features, std::size_t first, std::size_t neurons) {
  constexpr std::string_view kOther = "another linear term";
  Storage& s = storage_;
  const std::size_t own = s.offsets.size() - 1;
  in.expect(neurons + 1, kOther);
  in.get_share(std::span(s.offsets), first, neurons + 1);
  const std::uint64_t before = s.offsets.front();  // weights of the neurons before the own ones
  for (std::uint64_t& offset : s.offsets) offset -= before;
  // Number of weights of all neurons in the file, before and after the own neurons, too.
  const auto all = in.get_count(sizeof(std::uint32_t) + sizeof(float), kOther);
  if (s.offsets[own] != s.weights.size() || before > all || all - before < s.weights.size())
    in.refuse(kOther);
  in.get_share(s.features.span(), before, all);
  in.expect(all, kOther);
  in.skip(before * sizeof(float));
  get_weights(in, features);
  in.skip((all - before - s.weights.size()) * sizeof(float));
  return before;
}

// Checks offsets and features, then reads the weights.
void LinearTerm::get_weights(ByteReader& in, std::size_t features) {
  constexpr const char* kImpossible = "impossible wide weights";
  Storage& s = storage_;
  const bool good =
      s.offsets.front() == 0 && s.offsets.back() == s.weights.size() && std::ranges::is_sorted(s.offsets);
  if (!good) in.refuse(kImpossible);
  for (std::size_t n = 0; n + 1 < s.offsets.size(); ++n) {
    const auto ids = s.features.span().subspan(s.offsets[n], s.offsets[n + 1] - s.offsets[n]);
    const bool ascend = std::ranges::adjacent_find(ids, std::ranges::greater_equal()) == ids.end();
    if (ascend && (ids.empty() || ids.back() < features)) continue;
    if (std::ranges::any_of(ids, [&](std::uint32_t id) { return id >= features; })) in.refuse(kImpossible);
    in.refuse(fmt::format("wide weights, neuron {}: features that do not ascend", n));
  }
  const std::size_t bad = get_finite(in, s.weights.span());
  if (bad == s.weights.size()) return;
  const auto neuron = std::ranges::upper_bound(s.offsets, bad) - s.offsets.begin() - 1;
  in.refuse(fmt::format("wide weights, neuron {}, feature {}: no finite number", neuron, s.features[bad]));
}

double LinearTerm::bytes_of(double weights, double neurons) {
  return (neurons + 1) * sizeof(std::uint64_t) + weights * (sizeof(std::uint32_t) + sizeof(float));
}

double LinearTerm::max_weights(const LayerConfig& config, double neurons, double label_features) {
  return std::min(neurons * config.wide_features, label_features) + neurons * config.wide_negatives;
}

std::size_t LinearTerm::bytes() const {
  return storage_.offsets.size() * sizeof(std::uint64_t) + storage_.features.bytes() +
         storage_.weights.bytes() + storage_.small.bytes();
}

void LinearTerm::Storage::widen() {
  if (small.empty()) return;
  weights = AlignedArray<float>(features.size());
  for (std::size_t n = 0; n + 1 < offsets.size(); ++n)
    small.load(n, offsets[n], offsets[n + 1] - offsets[n], weights.data() + offsets[n]);
  small = {};
}

LinearTerm LinearTerm::widened() const {
  LinearTerm wide(config_);
  wide.storage_.offsets = storage_.offsets;
  wide.storage_.features = AlignedArray<std::uint32_t>(storage_.features.size());
  std::ranges::copy(storage_.features, wide.storage_.features.data());
  wide.storage_.small = storage_.small;
  wide.storage_.widen();
  return wide;
}

}  // namespace slide
