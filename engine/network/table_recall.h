// Recall of hash tables: of the neurons with the largest outputs w.x + bias for a sample, the share that a
// query with this sample returns. Functions read the layer; thread-safe beside other readers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/network/layer.h"

namespace slide {

constexpr std::size_t kRecallTop = 10;      // top neurons of a sample
constexpr std::size_t kRecallSamples = 16;  // max samples of a block

using TopNeurons = std::array<std::uint32_t, kRecallTop>;  // by falling output; UINT32_MAX: fewer neurons

// The top neurons of the slice `neurons` for each of the first `samples` samples of a block with all its
// inputs. O(samples * neurons * width). `scratch`: of the layer, for inference and a block of so many lanes.
std::vector<TopNeurons> top_neurons(const Layer& layer, Slice neurons, const BlockInput& in,
                                    std::size_t samples, LayerScratch& scratch);

// Mean recall over the first kRecallSamples of a block and the layer's parts. Each sample queries for as many
// neurons as a block takes from tables (layer.lsh). `seed` orders tables.
double table_recall(const Layer& layer, const BlockInput& in, std::uint64_t seed);

}  // namespace slide
