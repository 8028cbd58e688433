// Exact scores of one set of neurons for all samples of some blocks: their top k and, where a batch needs
// it, their softmax normaliser. Tile by tile (Tiles); only scores that reach the k-th best so far are
// offered to the top k.
//
// Immutable, safe from any thread with one Scratch per thread; refers to the layer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/inference/tiles.h"
#include "engine/network/layer.h"

namespace slide {

class ExactPass {
 public:
  struct Scratch {
    Tiles::Scratch tiles;
    std::vector<float> threshold;       // by lane: lower scores are ignored
    std::vector<std::uint32_t> places;  // indices in [tile x lanes] of scores that reach the threshold
    std::vector<float> tile_norm;       // by lane: log of the sum of exp(score) over a tile
    AlignedArray<float> columns;        // scores of a few neurons, [lanes x neurons]
  };

  // `postings`: whether the output layer has a linear term that is evaluated from postings.
  ExactPass(const Layer& output, bool postings) : output_(output), tiles_(postings) {}
  const Tiles& tiles() const { return tiles_; }
  Scratch make_scratch(std::size_t blocks, std::size_t lanes) const;

  // Scores the neurons `ids` (ascending) for the samples of `blocks` (indices of blocks in the batch); adds
  // the results of those of batch.exact, of all with batch.log_softmax or k > TopK::kMaxInOrder, to
  // batch.best, batch.log_norm and batch.votes. `postings`: as of Tiles::for_each_tile().
  void score(std::span<const std::uint32_t> ids, const WidePostings* postings,
             std::span<const std::uint32_t> blocks, PredictionBatch& batch, Scratch& scratch) const;

 private:
  const Layer& output_;
  Tiles tiles_;
};

}  // namespace slide
