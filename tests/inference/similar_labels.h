// A network with nearly equal scores, for which bounds prune too few labels.
#pragma once

#include <cstdint>

#include "engine/network/network.h"
#include "engine/wide/linear_term.h"

namespace slide::test {

inline void make_labels_similar(Network& network) {
  Layer& output = network.output();
  for (float& w : output.weights().weights) w *= 1e-4F;
  for (float& w : linear_term_of(output)->storage().weights) w *= 1e-4F;
  for (std::uint32_t label = 0; label < output.size(); ++label) *output.bias().row(label) = -1.0F;
}

}  // namespace slide::test
