// Attribution: the contribution of each input feature of a sample to a label's logit.
//
// Method: gradient times input (Shrikumar et al., "Not Just a Black Box", 2016, section 2), through the
// hidden layers and the linear term. With ReLU or without hidden layers, contributions and bias contributions
// sum to the logit; with other activations they are a first-order approximation at the sample. The
// contribution of a feature cross is split evenly between its two features. The kNN vote is not included.
//
// Not thread-safe. Memory is kept between calls and grows to the largest call.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/inference/prediction_batch.h"

namespace slide {

struct FeatureContribution {
  std::uint32_t feature;
  double contribution;  // to the logit
};

class Attribution {
 public:
  // Selects sample `sample` of `data`. `data` has the features of `network`; both must outlive the calls of
  // of(). Throws InputError where other processes hold shards of the network.
  void begin(const Network& network, const Dataset& data, std::size_t sample);
  // Contributions of the sample's features to the logit of `label`, in the order of the sample: sparse
  // features, then dense columns. Valid until the next call.
  std::span<const FeatureContribution> of(std::uint32_t label);

 private:
  void set_output_gradient(std::uint32_t label);
  void through_activation(const LayerConfig& layer, const LayerBlock& at);
  void through_weights(const Parameters& weights, std::size_t inputs);
  double part_in_input(std::uint32_t feature, double value);
  void add_linear_term(std::uint32_t label, const SparseRow& row);
  void split_crosses();

  const Network* network_ = nullptr;
  PredictionBatch batch_;
  std::vector<float> gradient_;     // of the label's logit, by unit of a layer
  std::vector<float> row_, below_;  // scratch: a weight row; the gradient by unit of the layer below
  std::vector<FeatureContribution> contributions_;
};

// The `limit` largest contributions, all above 0, descending; ties by ascending feature.
std::vector<FeatureContribution> largest(std::span<const FeatureContribution> contributions,
                                         std::size_t limit);

}  // namespace slide
