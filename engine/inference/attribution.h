// What the features of a sample add to the score of a label: which words spoke for an answer.
//
// A feature's part is its value times the derivative of the label's logit by it, through the hidden layers
// and the wide path ("gradient times input"; Shrikumar et al., "Not Just a Black Box", 2016, section 2).
// Where hidden units are ReLU, or there are none, the parts and what the biases add make up the logit; with
// other activations they are its slope at the sample. What a pair of features adds is its features' by
// halves. The vote of neighbours has no part in it.
//
// Of one thread. Kept from call to call; memory grows to what the largest call needs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/inference/prediction_batch.h"

namespace slide {

struct FeaturePart {
  std::uint32_t feature;
  double part;  // of the logit
};

class Attribution {
 public:
  // Sample `sample` of `data`, which has the features of `network`, for of() to be asked about. Both must
  // live on. Throws InputError where other processes hold parts of the network.
  void begin(const Network& network, const Dataset& data, std::size_t sample);
  // The parts of the sample's features in the logit of `label`, in the order of the sample: sparse features,
  // then dense columns. Good until the next call.
  std::span<const FeaturePart> of(std::uint32_t label);

 private:
  void slope_of_output(std::uint32_t label);
  void through_activation(const LayerConfig& layer, const LayerBlock& at);
  void through_weights(const Parameters& weights, std::size_t inputs);
  double part_in_input(std::uint32_t feature, double value);
  std::span<const FeaturePart> without_pairs();

  const Network* network_ = nullptr;
  PredictionBatch batch_;
  std::vector<float> slope_;  // by unit of a layer: of the label's logit
  std::vector<float> row_, below_;
  std::vector<FeaturePart> parts_;
};

// The `most` parts that are largest, all of them above 0, in their order; equal ones by ascending feature.
std::vector<FeaturePart> largest(std::span<const FeaturePart> parts, std::size_t most);

}  // namespace slide
