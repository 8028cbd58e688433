// Exact scores of the same neurons for all samples of some blocks, and the best of them.
//
// Immutable, safe from any thread with a Scratch each; refers to the layer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/inference/chunks.h"
#include "engine/network/layer.h"

namespace slide {

class ExactPass {
 public:
  struct Scratch {
    Chunks::Scratch chunks;
    std::vector<float> threshold;     // by lane: lower scores do not matter
    std::vector<std::uint32_t> hits;  // places of those that do
    std::vector<float> chunk_norm;    // by lane
    AlignedArray<float> columns;      // scores of a few neurons, by lane
  };

  // `postings`: whether the output layer has a wide path and its postings are used.
  ExactPass(const Layer& output, bool postings) : output_(output), chunks_(postings) {}
  const Chunks& chunks() const { return chunks_; }
  Scratch make_scratch(std::size_t blocks, std::size_t lanes) const;

  // Adds what the scores of the neurons `ids`, ascending, are to the samples of `blocks` to the batch's best,
  // log_norm and votes; see Chunks::go_over().
  void score(std::span<const std::uint32_t> ids, const WidePostings* postings,
             std::span<const std::uint32_t> blocks, PredictionBatch& batch, Scratch& scratch) const;

 private:
  const Layer& output_;
  Chunks chunks_;
};

}  // namespace slide
