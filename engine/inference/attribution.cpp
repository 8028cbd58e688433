#include "engine/inference/attribution.h"

#include <algorithm>
#include <bit>

#include "engine/base/error.h"
#include "engine/crosses/feature_transform.h"
#include "engine/network/activation.h"
#include "engine/wide/linear_term.h"

namespace slide {

void Attribution::begin(const Network& network, const Dataset& data, std::size_t sample) {
  if (network.parts().split())
    fail_input("other processes hold parts of the network; ask one that holds all");
  network_ = &network;
  batch_.k = 1;
  batch_.reserve(TrainedNetwork(network, nullptr), 1, 1, std::bit_ceil(max_entries(network, data, 1)));
  batch_.begin(network, data, sample, sample + 1);
}

// Sets the gradient by the units below the output layer: the label's weight row.
void Attribution::set_output_gradient(std::uint32_t label) {
  const Parameters& weights = network_->output().weights();
  gradient_.resize(weights.columns);
  weights.load_row(label, gradient_.data());
}

void Attribution::through_activation(const LayerConfig& layer, const LayerBlock& at) {
  activation_backward(layer.activation, at.out.data(), gradient_.size(), gradient_.data());
}

// Backpropagates the derivative from a layer's neurons to its inputs.
void Attribution::through_weights(const Parameters& weights, std::size_t inputs) {
  below_.assign(inputs, 0.0f);
  row_.resize(inputs);
  for (std::size_t n = 0; n < weights.rows; ++n) {
    if (gradient_[n] == 0.0f) continue;
    weights.load_row(n, row_.data());
    for (std::size_t i = 0; i < inputs; ++i) below_[i] += gradient_[n] * row_[i];
  }
  gradient_.swap(below_);
}

// Contribution through the hidden layers, where gradient_ is by unit of the input layer, or by feature
// without one.
double Attribution::part_in_input(std::uint32_t feature, double value) {
  if (!network_->input()) return value * gradient_[feature];
  const Parameters& weights = network_->input()->weights();
  row_.resize(weights.columns);
  weights.load_row(feature, row_.data());
  double sum = 0.0;
  for (std::size_t h = 0; h < weights.columns; ++h) sum += double(gradient_[h]) * row_[h];
  return value * sum;
}

// Adds the contributions through the linear term to contributions_, which has one element per entry of `row`.
void Attribution::add_linear_term(std::uint32_t label, const SparseRow& row) {
  const LinearTerm* wide = linear_term_of(network_->output());
  if (wide == nullptr) return;
  const LinearTerm::Storage& all = wide->storage();
  const auto begin = all.features.begin() + static_cast<std::ptrdiff_t>(all.offsets[label]),
             end = all.features.begin() + static_cast<std::ptrdiff_t>(all.offsets[label + 1]);
  for (std::size_t i = 0; i < row.ids.size(); ++i) {
    const auto at = std::lower_bound(begin, end, row.ids[i]);
    if (at == end || *at != row.ids[i]) continue;
    const float weight = all.weight(label, static_cast<std::size_t>(at - all.features.begin()));
    contributions_[i].contribution += double(row.values[i]) * weight;
  }
}

// Splits the contribution of each cross evenly between its two features. Crosses are the last of
// contributions_.
void Attribution::split_crosses() {
  const FeatureCrosses& crosses = crosses_of(*network_);
  if (!crosses.active()) return;
  for (; !contributions_.empty() && contributions_.back().feature >= crosses.features();
       contributions_.pop_back()) {
    const FeatureCross& cross = crosses.crosses()[contributions_.back().feature - crosses.features()];
    for (const std::uint32_t feature : {cross.first, cross.second})
      std::ranges::lower_bound(contributions_, feature, {}, &FeatureContribution::feature)->contribution +=
          0.5 * contributions_.back().contribution;
  }
}

// Backpropagates the logit's gradient to the input, multiplies it by the feature values and adds the linear
// term.
std::span<const FeatureContribution> Attribution::of(std::uint32_t label) {
  const Block& block = batch_.blocks.front();
  set_output_gradient(label);
  const std::vector<Layer>& layers = network_->layers();
  for (std::size_t l = layers.size() - 1; l-- > 0;) {
    through_activation(layers[l].config(), block.layers[l]);
    through_weights(layers[l].weights(), layers[l].inputs());
  }
  if (network_->input()) through_activation(network_->input()->config(), block.input);
  contributions_.clear();
  const SparseRow& row = block.rows.front();
  for (std::size_t i = 0; i < row.ids.size(); ++i)
    contributions_.push_back({row.ids[i], part_in_input(row.ids[i], row.values[i])});
  add_linear_term(label, row);
  split_crosses();
  const std::size_t dense = network_->dense(), first = network_->sample_features() - dense;
  for (std::size_t c = 0; c < dense; ++c) {
    const auto feature = static_cast<std::uint32_t>(first + c);
    contributions_.push_back({feature, part_in_input(feature, block.dense.x()[c])});
  }
  return contributions_;
}

std::vector<FeatureContribution> largest(std::span<const FeatureContribution> contributions,
                                         std::size_t limit) {
  std::vector<FeatureContribution> found;
  std::ranges::copy_if(contributions, std::back_inserter(found),
                       [](const FeatureContribution& at) { return at.contribution > 0.0; });
  const auto end = found.begin() + static_cast<std::ptrdiff_t>(std::min(limit, found.size()));
  std::partial_sort(
      found.begin(), end, found.end(), [](const FeatureContribution& a, const FeatureContribution& b) {
        return a.contribution > b.contribution || (a.contribution == b.contribution && a.feature < b.feature);
      });
  found.erase(end, found.end());
  return found;
}

}  // namespace slide
