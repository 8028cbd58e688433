// What hash tables find of what they are asked for: of the neurons that fire most for a sample, w.x + bias,
// the share that its own query returns. Reads a layer; safe from any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/network/layer.h"

namespace slide {

constexpr std::size_t kRecallTop = 10;      // neurons of a sample,
constexpr std::size_t kRecallSamples = 16;  // of samples

using TopNeurons = std::array<std::uint32_t, kRecallTop>;  // best first; UINT32_MAX: there are no more

// The best of some neurons for each of some samples of a block, all of whose inputs are there.
std::vector<TopNeurons> top_neurons(const Layer& layer, Slice neurons, const BlockInput& in,
                                    std::size_t samples);

// Mean over the first kRecallSamples of a block, and over the layer's parts: each sample asks for as many
// neurons as its block gets from tables.
double table_recall(const Layer& layer, const BlockInput& in, std::uint64_t seed);

}  // namespace slide
