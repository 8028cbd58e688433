#include "engine/inference/full_scorer.h"

#include <algorithm>
#include <numeric>

#include "engine/wide/linear_term.h"

namespace slide {

FullScorer::FullScorer(const Network& network, int threads)
    : output_(network.output()), pass_(output_, linear_term_of(output_) != nullptr) {
  if (linear_term_of(output_) != nullptr)
    postings_.emplace(*linear_term_of(output_), output_.all_neurons(), network.sample_features(), threads);
}

std::unique_ptr<FullScorer::Scratch> FullScorer::make_full_scratch(std::size_t blocks,
                                                                   std::size_t lanes) const {
  auto scratch = std::make_unique<Scratch>();
  scratch->pass = pass_.make_scratch(blocks, lanes);
  scratch->all_blocks.resize(blocks);
  std::iota(scratch->all_blocks.begin(), scratch->all_blocks.end(), 0U);
  return scratch;
}

void FullScorer::score(PredictionBatch& batch, Scorer::Scratch& scratch) const {
  auto& own = static_cast<Scratch&>(scratch);
  std::ranges::fill(batch.exact, 1);
  score(std::span(own.all_blocks).first(batch.inputs.size()), batch, own.pass);
}

void FullScorer::score(std::span<const std::uint32_t> blocks, PredictionBatch& batch,
                       ExactPass::Scratch& scratch) const {
  pass_.score(output_.all_neurons(), postings(), blocks, batch, scratch);
}

}  // namespace slide
