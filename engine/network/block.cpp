#include "engine/network/block.h"

#include <algorithm>

#include "engine/kernels/kernels.h"
#include "engine/network/activation.h"

namespace slide {

// The factor of unit u and sample s is number u * all + s of the stream, to which any tile can skip.
void apply_dropout(double probability, Slice units, Slice samples, std::size_t all, std::size_t lanes,
                   const Rng& rng, LayerBlock& block) {
  const auto keep = static_cast<float>(1.0 / (1.0 - probability));
  for (std::size_t u = units.first; u < units.end(); ++u) {
    Rng draws = rng;
    draws.skip(u * all + samples.first);
    for (std::size_t s = samples.first; s < samples.end(); ++s) {
      const float factor = draws.uniform() < probability ? 0.0f : keep;
      block.mask[s * block.ldo + u] = factor;
      block.out_t[u * lanes + s] *= factor;
      block.out[s * block.ldo + u] = block.out_t[u * lanes + s];
    }
  }
}

// Without dropout by rows of units; with dropout unit by unit.
void backward_through_activation(const LayerConfig& config, const SliceCell& cell, const LayerBlock& block,
                                 float* delta) {
  const Slice units = cell.units;
  for (std::size_t s = cell.samples.first; s < cell.samples.end(); ++s) {
    const std::size_t begin = s * block.ldo + units.first;
    if (block.mask.empty()) {
      activation_backward(config.activation, block.out.data() + begin, units.count, delta + begin);
      continue;
    }
    // The activation's own output is what dropout scaled: undo the factor before taking its derivative.
    for (std::size_t i = begin; i < begin + units.count; ++i) {
      const float factor = block.mask[i];
      const float y = factor > 0.0f ? block.out[i] / factor : 0.0f;
      delta[i] *= factor;
      activation_backward(config.activation, &y, 1, &delta[i]);
    }
  }
}

void FeatureColumns::reserve(std::size_t features, std::size_t entries, std::size_t lanes) {
  const std::size_t width = std::min(features, entries);
  ids.reserve(entries);  // with those that several samples have
  position.assign(features, 0);
  ldx = kernels::spread_stride(width);
  xt = AlignedArray<float>(width * lanes);
  x = AlignedArray<float>(ldx * lanes);
}

std::size_t FeatureColumns::bytes_of(std::size_t features, std::size_t entries, std::size_t lanes) {
  const std::size_t width = std::min(features, entries);
  return (entries + features) * sizeof(std::uint32_t) +
         (width + kernels::spread_stride(width)) * lanes * sizeof(float);
}

// Lists the distinct features of all rows, then writes their values in both layouts.
void FeatureColumns::build(std::span<const SparseRow> rows, std::size_t lanes) {
  ids.clear();
  for (const SparseRow& row : rows) ids.insert(ids.end(), row.ids.begin(), row.ids.end());
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  for (std::size_t i = 0; i < ids.size(); ++i) position[ids[i]] = static_cast<std::uint32_t>(i);
  std::fill(xt.begin(), xt.begin() + ids.size() * lanes, 0.0f);
  std::fill(x.begin(), x.end(), 0.0f);
  for (std::size_t s = 0; s < rows.size(); ++s) {
    for (std::size_t i = 0; i < rows[s].ids.size(); ++i) {
      const std::size_t at = position[rows[s].ids[i]];
      xt[at * lanes + s] = x[s * ldx + at] = rows[s].values[i];
    }
  }
}

}  // namespace slide
