#include "tests/bench/top_units.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "engine/base/rng.h"
#include "engine/kernels/kernels.h"

namespace slide::top_units {

namespace {

constexpr std::size_t kBundle = 16;         // units whose maximum bounds the k-th largest output
constexpr std::size_t kScaleSamples = 256;  // from which the length of hidden vectors is estimated
constexpr std::size_t kTile = 64;           // labels that are scored together
constexpr std::size_t kPackedUse = 2;       // samples of a unit from which on packing pays
constexpr float kEpsilon = 1e-8F;
constexpr float kUseRate = 0.05F;   // of a batch in the running mean of a unit's use
constexpr float kUseFloor = 0.05F;  // of a unit without use

void fill_uniform(std::span<float> w, double deviation, Rng rng) {
  const double width = 2 * std::sqrt(3.0) * deviation;
  for (float& x : w) x = static_cast<float>(width * (rng.uniform() - 0.5));
}

double length_of(const SparseRow& row) {
  double sum = 0;
  for (const float x : row.values) sum += double(x) * double(x);
  return std::sqrt(sum);
}

}  // namespace

Matrix::Matrix(std::size_t rows, std::size_t columns, std::size_t active, Adagrad adagrad)
    : columns_(columns),
      active_(active),
      adagrad_(adagrad),
      weights_(rows * columns),
      sums_(adagrad == Adagrad::kElement ? rows * columns
            : adagrad == Adagrad::kRow   ? rows
                                         : columns) {
  std::fill(weights_.begin(), weights_.end(), 0.0F);
  std::fill(sums_.begin(), sums_.end(), 0.0F);
}

void Matrix::update(std::size_t r, std::span<const std::uint32_t> touched, float scale, float rate,
                    float* g) {
  float* w = row(r);
  if (adagrad_ == Adagrad::kRow) {
    double squares = 0;
    for (const std::uint32_t u : touched) squares += double(scale * g[u]) * double(scale * g[u]);
    sums_[r] += static_cast<float>(squares / double(active_));
    const float step = rate * scale / (std::sqrt(sums_[r]) + kEpsilon);
    for (const std::uint32_t u : touched) {
      w[u] -= step * g[u];
      g[u] = 0;
    }
    return;
  }
  float* sums = sums_.data() + r * columns_;
  for (const std::uint32_t u : touched) {
    const float x = scale * g[u];
    sums[u] += x * x;
    w[u] -= rate * x / (std::sqrt(sums[u]) + kEpsilon);
    g[u] = 0;
  }
}

Network::Network(const Shape& shape, const Dataset& train, std::uint64_t seed)
    : shape_(shape),
      hidden_(shape.features, shape.units, shape.active, shape.adagrad),
      hidden_bias_(1, shape.units, shape.active, shape.adagrad),
      output_(shape.labels, shape.units, shape.active, shape.adagrad),
      bias_(shape.labels),
      bias_sums_(shape.labels),
      h_(shape.units),
      by_(shape.units),
      use_(shape.units, 1.0F),
      boost_(shape.units, 1.0F),
      g_(shape.units),
      stamps_(shape.units) {
  start_units(train, seed);
  scale_units(train);
  for (std::size_t l = 0; l < shape_.labels; ++l)
    fill_uniform({output_.row(l), shape_.units}, shape_.output_start / std::sqrt(double(shape_.units)),
                 Rng(seed, Purpose::kWeights, l, 1));
}

// Random weights, or those of a unit in the direction of a training sample: of the sum of two of them once
// all samples have a unit.
void Network::start_units(const Dataset& train, std::uint64_t seed) {
  if (shape_.start == Start::kRandom) {
    for (std::size_t j = 0; j < shape_.features; ++j)
      fill_uniform({hidden_.row(j), shape_.units}, 1, Rng(seed, Purpose::kWeights, j));
    return;
  }
  std::vector<std::uint32_t> order(train.size());
  std::iota(order.begin(), order.end(), 0U);
  Rng rng(seed, Purpose::kWeights);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[rng.below(static_cast<std::uint32_t>(i))]);
  for (std::size_t u = 0; u < shape_.units; ++u) {
    const std::size_t samples = u < order.size() ? 1 : 2;
    for (std::size_t i = 0; i < samples; ++i) {
      const std::size_t at = samples == 1 ? u : rng.below(static_cast<std::uint32_t>(order.size()));
      const SparseRow row = train.features(order[at]);
      const double length = std::max(1e-9, length_of(row));
      for (std::size_t e = 0; e < row.ids.size(); ++e)
        hidden_.row(row.ids[e])[u] += static_cast<float>(row.values[e] / length);
    }
  }
}

// Makes the mean square length of hidden vectors 1, as a dense layer of He et al. has it.
void Network::scale_units(const Dataset& train) {
  const std::size_t samples = std::min(kScaleSamples, train.size());
  double squares = 0;
  Units units;
  for (std::size_t i = 0; i < samples; ++i) {
    find_units(train.features(i * (train.size() / samples)), units);
    for (const float x : units.values) squares += double(x) * double(x);
  }
  const auto factor = static_cast<float>(std::sqrt(double(samples) / std::max(squares, 1e-9)));
  for (float& w : hidden_.weights()) w *= factor;
}

void Network::activate(const SparseRow& row) {
  std::copy_n(hidden_bias_.row(0), shape_.units, h_.data());
  kernels::active().gather_rows(hidden_.data(), shape_.units, row.ids.data(), row.values.data(),
                                row.ids.size(), shape_.units, h_.data());
  kernels::active().relu(h_.data(), shape_.units);
  for (std::size_t u = 0; u < shape_.units; ++u) by_[u] = boost_[u] * h_[u];
}

void Network::count_units(std::span<const Units> units) {
  if (shape_.balance == 0) return;
  const auto mean = static_cast<float>(double(units.size()) * double(shape_.active) / double(shape_.units));
  for (float& use : use_) use *= 1 - kUseRate;
  for (const Units& of : units) {
    for (const std::uint32_t u : of.ids) use_[u] += kUseRate / mean;
  }
  for (std::size_t u = 0; u < shape_.units; ++u)
    boost_[u] = std::pow(use_[u] + kUseFloor, -static_cast<float>(shape_.balance));
}

// The k largest outputs: k bundles have a maximum of at least the k-th largest one, so that no output below
// it is one of them.
void Network::choose_units() {
  const std::size_t k = shape_.active;
  order_.clear();
  for (std::size_t u = 0; u < shape_.units; u += kBundle)
    order_.push_back(*std::max_element(by_.begin() + std::ptrdiff_t(u),
                                       by_.begin() + std::ptrdiff_t(std::min(u + kBundle, shape_.units))));
  const auto kth = [&](std::vector<float>& values) {
    const auto at = values.begin() + std::ptrdiff_t(k) - 1;
    std::nth_element(values.begin(), at, values.end(), std::greater<>());
    return *at;
  };
  const float bound = order_.size() >= k ? kth(order_) : 0.0F;
  order_.clear();
  chosen_.clear();
  for (std::uint32_t u = 0; u < shape_.units; ++u) {
    if (by_[u] < bound || by_[u] <= 0) continue;
    chosen_.push_back(u);
    order_.push_back(by_[u]);
  }
  if (chosen_.size() <= k) return;
  const float least = kth(order_);
  const auto above = static_cast<std::size_t>(
      std::ranges::count_if(chosen_, [&](std::uint32_t u) { return by_[u] > least; }));
  std::size_t ties = k - above;
  std::erase_if(chosen_, [&](std::uint32_t u) { return by_[u] < least || (by_[u] == least && ties-- < 1); });
}

void Network::choose_groups() {
  const std::size_t groups = shape_.units / shape_.group, wanted = shape_.active / shape_.group;
  groups_.resize(groups);
  for (std::size_t i = 0; i < groups; ++i)
    groups_[i] = kernels::active().sum(by_.data() + i * shape_.group, shape_.group);
  order_ = groups_;
  std::nth_element(order_.begin(), order_.begin() + std::ptrdiff_t(wanted) - 1, order_.end(),
                   std::greater<>());
  const float least = order_[wanted - 1];
  chosen_.clear();
  for (std::uint32_t i = 0; i < groups && chosen_.size() < shape_.active; ++i) {
    if (groups_[i] < least || groups_[i] <= 0) continue;
    for (std::uint32_t u = 0; u < shape_.group; ++u)
      chosen_.push_back(static_cast<std::uint32_t>(i * shape_.group) + u);
  }
}

void Network::find_units(const SparseRow& row, Units& units) {
  activate(row);
  if (shape_.active >= shape_.units) {
    chosen_.resize(shape_.units);
    std::iota(chosen_.begin(), chosen_.end(), 0U);
  } else if (shape_.group > 1) {
    choose_groups();
  } else {
    choose_units();
  }
  units.ids = chosen_;
  units.values.clear();
  for (const std::uint32_t u : units.ids) units.values.push_back(h_[u]);
}

// A weight at a time.
void Network::score_apart(std::span<const Units> samples, std::span<const std::uint32_t> ids,
                          std::size_t lanes, float* z) const {
  const auto& k = kernels::active();
  const bool dense = shape_.active >= shape_.units;
  for (std::size_t a = 0; a < ids.size(); ++a) {
    const float* w = output_.row(ids[a]);
    for (std::size_t s = 0; s < samples.size(); ++s) {
      const Units& units = samples[s];
      z[a * lanes + s] =
          bias_[ids[a]] + (dense ? k.dot(w, units.values.data(), shape_.units)
                                 : k.gather_dot(w, units.ids.data(), units.values.data(), units.ids.size()));
    }
  }
}

void Network::pack(std::span<const std::uint32_t> labels) {
  if (packed_.empty()) packed_ = AlignedArray<float>(shape_.units * kTile);
  for (std::size_t first = 0; first < shape_.units; first += kBundle) {
    const std::size_t end = std::min(first + kBundle, shape_.units);
    for (std::size_t a = 0; a < labels.size(); ++a) {
      const float* w = output_.row(labels[a]);
      for (std::size_t u = first; u < end; ++u) packed_[u * kTile + a] = w[u];
    }
  }
}

// Of some labels at a time, by unit, where the samples use most of the units: a sample reads contiguous
// weights for each of its units.
void Network::score(std::span<const Units> samples, std::span<const std::uint32_t> ids, std::size_t lanes,
                    float* z) {
  if (shape_.active >= shape_.units || shape_.active * samples.size() < kPackedUse * shape_.units)
    return score_apart(samples, ids, lanes, z);
  const auto& k = kernels::active();
  if (logits_.size() < lanes * kTile) logits_ = AlignedArray<float>(lanes * kTile);
  for (std::size_t first = 0; first < ids.size(); first += kTile) {
    const auto tile = ids.subspan(first, std::min(kTile, ids.size() - first));
    pack(tile);
    for (std::size_t s = 0; s < samples.size(); ++s) {
      float* to = logits_.data() + s * kTile;
      for (std::size_t a = 0; a < tile.size(); ++a) to[a] = bias_[tile[a]];
      k.gather_rows(packed_.data(), kTile, samples[s].ids.data(), samples[s].values.data(),
                    samples[s].ids.size(), kTile, to);
    }
    k.transpose(logits_.data(), kTile, samples.size(), tile.size(), lanes, z + first * lanes);
  }
}

void Network::add(const Units& units, std::span<const float> gradient, float factor) {
  for (std::size_t i = 0; i < units.ids.size(); ++i) {
    const std::uint32_t u = units.ids[i];
    if (stamps_[u] != stamp_) {
      stamps_[u] = stamp_;
      touched_.push_back(u);
    }
    g_[u] += factor * gradient[i];
  }
}

void Network::update_output(std::span<const Units> units, float scale, float rate) {
  for (std::size_t first = 0, end = 0; first < deltas_.size(); first = end) {
    const std::uint32_t label = deltas_[first].label;
    double sum = 0;
    clear_touched();
    for (end = first; end < deltas_.size() && deltas_[end].label == label; ++end) {
      add(units[deltas_[end].sample], units[deltas_[end].sample].values, deltas_[end].value);
      sum += double(deltas_[end].value);
    }
    output_.update(label, touched_, scale, rate, g_.data());
    const auto x = static_cast<float>(sum) * scale;
    bias_sums_[label] += x * x;
    bias_[label] -= rate * x / (std::sqrt(bias_sums_[label]) + kEpsilon);
  }
}

void Network::update_hidden(std::span<const SparseRow> rows, std::span<const Units> units, float scale,
                            float rate) {
  entries_.clear();
  for (std::uint32_t s = 0; s < rows.size(); ++s) {
    for (std::size_t e = 0; e < rows[s].ids.size(); ++e)
      entries_.push_back({rows[s].ids[e], s, rows[s].values[e]});
  }
  std::ranges::stable_sort(entries_, {}, &Entry::feature);
  for (std::size_t first = 0, end = 0; first < entries_.size(); first = end) {
    const std::uint32_t feature = entries_[first].feature;
    clear_touched();
    for (end = first; end < entries_.size() && entries_[end].feature == feature; ++end)
      add(units[entries_[end].sample], gradients_[entries_[end].sample], entries_[end].value);
    hidden_.update(feature, touched_, scale, rate, g_.data());
  }
  clear_touched();
  for (std::size_t s = 0; s < rows.size(); ++s) add(units[s], gradients_[s], 1);
  hidden_bias_.update(0, touched_, scale, rate, g_.data());
}

void Network::update(std::span<const SparseRow> rows, std::span<const Units> units,
                     std::span<const Delta> deltas, float rate) {
  if (gradients_.size() < rows.size()) gradients_.resize(rows.size());
  for (std::size_t s = 0; s < rows.size(); ++s) gradients_[s].assign(units[s].ids.size(), 0.0F);
  for (const Delta& delta : deltas) {
    const float* w = output_.row(delta.label);
    const Units& of = units[delta.sample];
    float* gradient = gradients_[delta.sample].data();
    for (std::size_t i = 0; i < of.ids.size(); ++i) gradient[i] += delta.value * w[of.ids[i]];
  }
  for (std::size_t s = 0; s < rows.size(); ++s) {
    for (std::size_t i = 0; i < units[s].ids.size(); ++i) {
      if (units[s].values[i] <= 0) gradients_[s][i] = 0;
    }
  }
  deltas_.assign(deltas.begin(), deltas.end());
  std::ranges::stable_sort(deltas_, {}, &Delta::label);
  const float scale = 1.0F / static_cast<float>(rows.size());
  update_output(units, scale, rate);
  update_hidden(rows, units, scale, rate);
}

}  // namespace slide::top_units
