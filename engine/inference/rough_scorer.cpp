#include "engine/inference/rough_scorer.h"

#include <limits>

#include "engine/kernels/kernels.h"

namespace slide {

namespace {
constexpr std::size_t kFewBest = TopK::kMostInOrder;  // of more, rough scores leave too many neurons
constexpr std::size_t kMostHits = 2048;  // of a sample by rough scores; twice as many as may be left
}  // namespace

std::unique_ptr<Scorer::Scratch> RoughScorer::make_scratch(std::size_t blocks, std::size_t lanes) const {
  auto scratch = std::make_unique<Scratch>();
  scratch->full = full_.make_full_scratch(blocks, lanes);
  scratch->screen = screen_.make_scratch(full_.pass().chunks().neurons(), blocks * lanes);
  scratch->hits.resize(blocks * lanes);
  for (auto& hits : scratch->hits) hits.reserve(kMostHits);
  scratch->rough.reserve(blocks);
  scratch->exact.reserve(blocks);
  scratch->too_close.resize(blocks);
  return scratch;
}

void RoughScorer::score(Panel& panel, Scorer::Scratch& scratch) const {
  auto& own = static_cast<Scratch&>(scratch);
  if (panel.k > kFewBest || panel.log_softmax) return full_.score(panel, *own.full);
  ExactPass::Scratch& pass = own.full->pass;
  choose_blocks(panel, own);
  full_.pass().chunks().go_over(
      full_.output().all_neurons(), full_.postings(), own.rough, panel, pass.chunks,
      [&](std::span<const BlockInput> inputs, std::span<const std::uint32_t> chunk, float* z) {
        screen_.score(inputs, chunk, own.screen, z);
      },
      [&](std::size_t b, std::span<const std::uint32_t> chunk, const float* z) {
        keep_possible(b, chunk, z, panel, own);
      });
  for (const std::uint32_t b : own.rough) rescore(b, panel, own);
  full_.score(own.exact, panel, pass);
}

void RoughScorer::choose_blocks(const Panel& panel, Scratch& scratch) const {
  scratch.rough.clear();
  scratch.exact.clear();
  for (std::uint32_t b = 0; b < panel.inputs.size(); ++b) {
    const BlockInput& in = panel.inputs[b];
    const bool bounded = screen_.begin_block(in, panel.sample(b, 0), scratch.screen);
    (bounded ? scratch.rough : scratch.exact).push_back(b);
    scratch.too_close[b] = false;
    for (std::size_t s = 0; s < in.samples; ++s) scratch.hits[panel.sample(b, s)].clear();
  }
}

// Labels of lower rough scores are not among the best of a sample.
float RoughScorer::least_of_use(std::size_t sample, const Panel& panel, const Scratch& scratch) const {
  return panel.best[sample].threshold() - 2 * screen_.error(sample, scratch.screen);
}

// Of the rough scores z [chunk x lanes] of block b, keeps all that could be among the best.
void RoughScorer::keep_possible(std::size_t b, std::span<const std::uint32_t> chunk, const float* z,
                                Panel& panel, Scratch& scratch) const {
  if (scratch.too_close[b]) return;
  const BlockInput& in = panel.inputs[b];
  const auto lanes = static_cast<std::uint32_t>(in.lanes);
  ExactPass::Scratch& pass = scratch.full->pass;
  for (std::size_t s = 0; s < lanes; ++s) {
    pass.threshold[s] = s < in.samples ? least_of_use(panel.sample(b, s), panel, scratch)
                                       : std::numeric_limits<float>::infinity();
  }
  const std::size_t count =
      kernels::active().select_above(z, chunk.size(), lanes, pass.threshold.data(), pass.hits.data());
  for (std::size_t h = 0; h < count; ++h) {
    const std::uint32_t at = pass.hits[h];
    const std::size_t sample = panel.sample(b, at % lanes);
    panel.best[sample].offer(chunk[at / lanes], z[at]);
    add_hit(b, sample, {chunk[at / lanes], z[at]}, panel, scratch);
  }
}

void RoughScorer::add_hit(std::size_t b, std::size_t sample, const Hit& hit, const Panel& panel,
                          Scratch& scratch) const {
  std::vector<Hit>& hits = scratch.hits[sample];
  const float least = least_of_use(sample, panel, scratch);
  if (hit.score < least) return;
  if (hits.size() == kMostHits) {
    std::erase_if(hits, [&](const Hit& earlier) { return earlier.score < least; });
    if (hits.size() > kMostHits / 2) scratch.too_close[b] = true;
  }
  hits.push_back(hit);
}

// Puts the best by exact scores in place of those by rough ones; the labels voted for get exact scores, too.
// A block of which rough scores leave too many is listed to be scored exactly as a whole.
void RoughScorer::rescore(std::uint32_t b, Panel& panel, Scratch& scratch) const {
  for (std::size_t s = 0; s < panel.inputs[b].samples; ++s) {
    if (!scratch.too_close[b]) {
      rescore_sample(b, s, panel, scratch);
      continue;
    }
    const std::size_t sample = panel.sample(b, s);
    panel.best[sample].clear();
    if (panel.votes) panel.votes->restart(sample);
  }
  if (scratch.too_close[b]) scratch.exact.push_back(b);
}

void RoughScorer::rescore_sample(std::size_t b, std::size_t s, Panel& panel, Scratch& scratch) const {
  const BlockInput& in = panel.inputs[b];
  const std::size_t sample = panel.sample(b, s);
  const auto correction = [&](std::uint32_t label) {
    return screen_.correction(in, s, label, scratch.screen);
  };
  screen_.select_sample(in, s, scratch.screen);
  const float least = least_of_use(sample, panel, scratch);
  TopK& best = panel.best[sample];
  best.clear();
  for (const Hit& hit : scratch.hits[sample]) {
    if (hit.score >= least) best.offer(hit.label, hit.score + correction(hit.label));
  }
  const auto votes = panel.votes ? panel.votes->of(sample) : std::span<const PanelVotes::Vote>();
  for (std::size_t v = 0; v < votes.size(); ++v)
    panel.votes->set_score(sample, v, panel.votes->score(sample, v) + correction(votes[v].label));
}

}  // namespace slide
