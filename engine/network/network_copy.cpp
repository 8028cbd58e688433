#include "engine/network/network_copy.h"

#include <algorithm>
#include <memory>

namespace slide {

namespace {

template <class T>
AlignedArray<T> copy_of(const AlignedArray<T>& array) {
  AlignedArray<T> copy(array.size());
  std::ranges::copy(array, copy.begin());
  return copy;
}

}  // namespace

Network copy_of(const Network& network, const DataShape& shape) {
  Network copy(network.config(), shape);
  const auto from = network.matrices();
  const auto to = copy.matrices();
  for (std::size_t i = 0; i < from.size(); ++i) {
    to[i]->weights = copy_of(from[i]->weights);
    to[i]->pairs = copy_of(from[i]->pairs);
  }
  if (const WidePath* wide = network.output().wide(); wide != nullptr) {
    auto path = std::make_unique<WidePath>(copy.output().config());
    path->storage().offsets = wide->storage().offsets;
    path->storage().features = copy_of(wide->storage().features);
    path->storage().weights = copy_of(wide->storage().weights);
    copy.output().set_wide(std::move(path));
  }
  copy.set_feature_scale(network.feature_scale());
  return copy;
}

OptimizerState copy_of(const OptimizerState& state) {
  OptimizerState copy;
  for (const MatrixState& from : state.matrices) {
    MatrixState to;
    to.first_stride = from.first_stride;
    to.second_stride = from.second_stride;
    to.counts_steps = from.counts_steps;
    to.first = copy_of(from.first);
    to.second = copy_of(from.second);
    to.steps = copy_of(from.steps);
    copy.matrices.push_back(std::move(to));
  }
  copy.wide = copy_of(state.wide);
  return copy;
}

}  // namespace slide
