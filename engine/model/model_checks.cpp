#include "engine/model/model_checks.h"

#include <algorithm>

namespace slide {

void check_counts(const DataShape& shape, std::uint64_t steps, std::span<const LayerHash> hashes,
                  const ByteReader& in) {
  if (shape.samples == 0 || shape.samples > kMaxCount) in.refuse("impossible number of samples");
  if (std::ranges::max(shape.label_frequencies) > shape.samples)
    in.refuse("a label with more samples than there are");
  if (steps > kMaxCount) in.refuse("impossible number of steps");
  if (std::ranges::any_of(hashes, [](const LayerHash& hash) { return hash.generation > kMaxCount; }))
    in.refuse("impossible generation of hash functions");
}

// Refuses sizes whose weights exceed the rest of the file, before memory is allocated for them.
void check_sizes(const Config& config, const DataShape& shape, ModelForm form, const ByteReader& in) {
  double inputs = double(shape.inputs()), weights = 0.0;
  for (const LayerConfig& layer : config.layers) {
    const double size = layer.size == 0 ? double(shape.labels) : double(layer.size);
    weights += (inputs + 1) * size;
    inputs = size;
  }
  const double bytes = form == ModelForm::kInt8                   ? 1
                       : config.train.weights == Precision::kBf16 ? 2
                                                                  : sizeof(float);
  if (weights * bytes > double(in.left())) in.refuse("weights beyond its length");
}

void check_state(const MatrixState& state, OptimizerKind kind, const ByteReader& in) {
  if (kind == OptimizerKind::kAdagrad) check_sums(state.first.span(), in);
  if (kind == OptimizerKind::kAdam) check_sums(state.second.span(), in);
}

void check_sums(std::span<const float> sums, const ByteReader& in) {
  if (std::ranges::any_of(sums, [](float sum) { return sum < 0; }))
    in.refuse("optimizer state with a sum of squares below 0");
}

}  // namespace slide
