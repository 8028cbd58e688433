// Scores output neurons tile by tile, each tile for all samples of the listed blocks, so that the tile's rows
// and scores stay in the second-level cache. Immutable; one Scratch per thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/inference/prediction_batch.h"
#include "engine/wide/wide_postings.h"

namespace slide {

class Tiles {
 public:
  // Neurons per tile. With postings, only one block's scores need to stay in cache, and larger tiles visit
  // each feature less often.
  static constexpr std::size_t kNeurons = 256, kNeuronsWithPostings = 1024;

  struct Scratch {
    AlignedArray<float> z;           // per block, [neurons of a tile x lanes]
    std::vector<BlockInput> inputs;  // of the blocks
    std::vector<WidePostings::Walk> walks;
  };

  // `postings`: the output layer has a linear term evaluated from postings.
  explicit Tiles(bool postings) : neurons_(postings ? kNeuronsWithPostings : kNeurons) {}
  std::size_t neurons() const { return neurons_; }
  Scratch make_scratch(std::size_t blocks, std::size_t lanes) const {
    Scratch scratch{
        AlignedArray<float>(blocks * neurons_ * lanes), {}, std::vector<WidePostings::Walk>(blocks)};
    scratch.inputs.reserve(blocks);
    return scratch;
  }

  // For each tile of `ids` (ascending): calls score(inputs, tile, z) for all listed blocks, then, per block,
  // adds the linear term from `postings` (postings of these ids, or nullptr), passes the scores of voted
  // labels of the samples of batch.exact to batch.votes and calls keep(b, tile, z of b). Without postings,
  // score() includes the linear term.
  template <class Score, class Keep>
  void for_each_tile(std::span<const std::uint32_t> ids, const WidePostings* postings,
                     std::span<const std::uint32_t> blocks, PredictionBatch& batch, Scratch& scratch,
                     Score&& score, Keep&& keep) const {
    begin(postings, blocks, batch, scratch);
    for (std::size_t first = 0; first < ids.size(); first += neurons_) {
      const auto tile = ids.subspan(first, std::min(neurons_, ids.size() - first));
      float* z = scratch.z.data();
      score(std::span<const BlockInput>(scratch.inputs), tile, z);
      for (const std::uint32_t b : blocks) {
        const BlockInput& in = batch.inputs[b];
        if (postings != nullptr)
          postings->add(*in.features, first, first + tile.size(), in.lanes, z, scratch.walks[b]);
        for (std::size_t s = 0; batch.votes && s < in.samples; ++s) {
          const std::size_t i = batch.sample(b, s);
          if (batch.exact[i] != 0) batch.votes->take_scores(i, tile, z + s, in.lanes);
        }
        keep(b, tile, z);
        z += tile.size() * in.lanes;
      }
    }
  }

 private:
  // Starts the walks over the postings, which then add the linear term: the inputs get no features for it.
  static void begin(const WidePostings* postings, std::span<const std::uint32_t> blocks,
                    const PredictionBatch& batch, Scratch& scratch) {
    scratch.inputs.clear();
    for (const std::uint32_t b : blocks) {
      scratch.inputs.push_back(batch.inputs[b]);
      if (postings == nullptr) continue;
      postings->start(*batch.inputs[b].features, scratch.walks[b]);
      if (batch.by_row) scratch.walks[b].sort();
      scratch.inputs.back().features = nullptr;
    }
  }

  std::size_t neurons_;
};

}  // namespace slide
