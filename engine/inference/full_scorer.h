// Scores all output neurons exactly. Immutable, safe from any thread with one Scratch per thread (Scorer).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/inference/exact_pass.h"
#include "engine/inference/scorer.h"
#include "engine/network/network.h"

namespace slide {

class FullScorer final : public Scorer {
 public:
  FullScorer(const Network& network, int threads);

  struct Scratch final : Scorer::Scratch {
    ExactPass::Scratch pass;
    std::vector<std::uint32_t> all_blocks;  // 0, 1, 2, ...
  };

  std::unique_ptr<Scorer::Scratch> make_scratch(std::size_t blocks, std::size_t lanes) const override {
    return make_full_scratch(blocks, lanes);
  }
  void score(PredictionBatch& batch, Scorer::Scratch& scratch) const override;
  std::size_t bytes() const override { return postings_ ? postings_->bytes() : 0; }

  // For scorers that build on this one: scores only some blocks of the batch; gives access to the components.
  std::unique_ptr<Scratch> make_full_scratch(std::size_t blocks, std::size_t lanes) const;
  void score(std::span<const std::uint32_t> blocks, PredictionBatch& batch,
             ExactPass::Scratch& scratch) const;
  const Layer& output() const { return output_; }
  const ExactPass& pass() const { return pass_; }
  const WidePostings* postings() const { return postings_ ? &*postings_ : nullptr; }

 private:
  const Layer& output_;
  std::optional<WidePostings> postings_;  // of the linear term
  ExactPass pass_;
};

}  // namespace slide
