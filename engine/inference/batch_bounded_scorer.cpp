#include "engine/inference/batch_bounded_scorer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/kernels/kernels.h"

namespace slide {

namespace {

constexpr std::size_t kGroup = WideBounds::kGroup;
constexpr std::size_t kChunk = 32 * kGroup;  // neurons per tile: their scores stay in cache
// neurons whose bounds of the linear term are computed together
constexpr std::size_t kStretch = 256 * kGroup;
constexpr std::size_t kDearer = 64;    // cost of one exact score of one sample, in scores of a whole block
constexpr std::size_t kMaxHits = 512;  // candidates kept per sample before they are scored
// `least` exceeds it before k labels are found
constexpr float kMaxLeast = std::numeric_limits<float>::max();

}  // namespace

BatchBoundedScorer::BatchBoundedScorer(const FullScorer& full, const Network& network,
                                       std::shared_ptr<const WideBounds> bounds, int threads)
    : full_(full),
      screen_(full.output(), BatchBounds::fastest(full.output().weights()), kGroup, threads),
      hits_(full.output(), network.sample_features()),
      bounds_(std::move(bounds)) {}

std::unique_ptr<Scorer::Scratch> BatchBoundedScorer::make_scratch(std::size_t blocks,
                                                                  std::size_t lanes) const {
  auto scratch = std::make_unique<Scratch>();
  const std::size_t samples = blocks * lanes;
  scratch->full = full_.make_full_scratch(blocks, lanes);
  scratch->screen = screen_.make_scratch(kChunk, samples);
  scratch->candidate_rescorer = hits_.make_scratch();
  scratch->rough.reserve(blocks);
  scratch->exact.reserve(blocks);
  scratch->scored.resize(blocks);
  scratch->wide.resize(blocks);
  scratch->walks.resize(blocks);
  scratch->bounds = AlignedArray<float>(kStretch / kGroup * samples);
  scratch->least.resize(samples);
  scratch->hits.resize(samples);
  for (auto& hits : scratch->hits) hits.reserve(kMaxHits);
  scratch->z = AlignedArray<float>(kChunk * lanes);
  scratch->by_sample = AlignedArray<float>(lanes * kStretch / kGroup);
  scratch->reach.resize(lanes);
  scratch->threshold.resize(lanes);
  scratch->places.resize(kGroup * lanes + 1);
  return scratch;
}

// Whether so many exact scores were needed that scoring the whole block exactly is faster.
bool BatchBoundedScorer::is_too_close(std::uint32_t b, const PredictionBatch& batch,
                                      const Scratch& scratch) const {
  const std::size_t most = std::max(kMaxHits, full_.output().size() / kDearer);
  return scratch.scored[b] > batch.inputs[b].samples * most;
}

void BatchBoundedScorer::score(PredictionBatch& batch, Scorer::Scratch& scratch) const {
  auto& own = static_cast<Scratch&>(scratch);
  const std::size_t neurons = full_.output().size();
  if (batch.log_softmax || batch.k > CandidateRescorer::kMaxBest) return full_.score(batch, *own.full);
  choose_blocks(batch, own);
  for (std::size_t first = 0; first < neurons; first += kStretch) {
    const std::size_t end = std::min(neurons, first + kStretch);
    bound_stretch(first / kGroup, (end - first + kGroup - 1) / kGroup, batch, own);
    for (std::size_t chunk = first; chunk < end; chunk += kChunk)
      score_chunk(chunk, std::min(kChunk, end - chunk), batch, own);
  }
  for (const std::uint32_t b : own.rough) finish(b, batch, own);
  full_.score(own.exact, batch, own.full->pass);
}

void BatchBoundedScorer::choose_blocks(PredictionBatch& batch, Scratch& scratch) const {
  scratch.rough.clear();
  scratch.exact.clear();
  for (std::uint32_t b = 0; b < batch.inputs.size(); ++b) {
    scratch.scored[b] = 0;
    (begin_block(b, batch, scratch) ? scratch.rough : scratch.exact).push_back(b);
  }
}

// Returns false where there are no bounds.
bool BatchBoundedScorer::begin_block(std::uint32_t b, PredictionBatch& batch, Scratch& scratch) const {
  const BlockInput& in = batch.inputs[b];
  const std::size_t first = batch.sample(b, 0);
  if (!screen_.begin_block(in, first, scratch.screen)) return false;
  scratch.wide[b].clear();
  if (bounds_) {
    for (std::size_t s = 0; s < in.samples; ++s)
      if (!bounds_->append(batch.single_features(b, s), scratch.wide[b])) return false;
    full_.postings()->start(*in.features, bounds_->few(), scratch.walks[b]);
  }
  for (std::size_t s = 0; s < in.lanes; ++s) {
    scratch.hits[first + s].clear();
    scratch.least[first + s] =
        s < in.samples ? batch.best[first + s].threshold() : std::numeric_limits<float>::infinity();
  }
  for (std::size_t s = 0; batch.votes && s < in.samples; ++s) {
    hits_.score_first_votes(b, s, batch, scratch.candidate_rescorer);
    scratch.least[first + s] = batch.best[first + s].threshold();
  }
  return true;
}

// Computes bounds of the linear term for some groups of neurons.
void BatchBoundedScorer::bound_stretch(std::size_t first_group, std::size_t groups, PredictionBatch& batch,
                                       Scratch& scratch) const {
  if (!bounds_) return;
  constexpr std::size_t kGroups = kStretch / kGroup;
  for (const std::uint32_t b : scratch.rough) {
    if (is_too_close(b, batch, scratch)) continue;
    const BlockInput& in = batch.inputs[b];
    for (std::size_t s = 0; s < in.samples; ++s)
      bounds_->bound(scratch.wide[b], s, first_group, groups, scratch.by_sample.data() + s * kGroups);
    kernels::active().transpose(scratch.by_sample.data(), kGroups, in.lanes, groups, in.lanes,
                                scratch.bounds.data() + batch.sample(b, 0) * kGroups);
  }
}

void BatchBoundedScorer::score_chunk(std::size_t first, std::size_t count, PredictionBatch& batch,
                                     Scratch& scratch) const {
  screen_.load(first, count, scratch.screen);
  for (const std::uint32_t b : scratch.rough) {
    if (is_too_close(b, batch, scratch)) continue;
    const BlockInput& in = batch.inputs[b];
    float* z = scratch.z.data();
    screen_.score(in, batch.sample(b, 0), batch.output_scratch(), scratch.screen, z);
    if (bounds_) full_.postings()->add(*in.features, first, first + count, in.lanes, z, scratch.walks[b]);
    for (std::size_t a = 0; a < count; a += kGroup)
      keep_possible(b, (first + a) / kGroup, z + a * in.lanes, std::min(kGroup, count - a), batch, scratch);
  }
}

void BatchBoundedScorer::set_thresholds(std::uint32_t b, std::size_t group, PredictionBatch& batch,
                                        Scratch& scratch) const {
  constexpr std::size_t kGroups = kStretch / kGroup;
  const std::size_t lanes = batch.inputs[b].lanes, first = batch.sample(b, 0);
  const float* bounds = scratch.bounds.data() + first * kGroups + group % kGroups * lanes;
  for (std::size_t s = 0; s < lanes; ++s) {
    const float least = scratch.least[first + s], wide = bounds_ ? bounds[s] : 0.0F;
    const float rounding =
        WideBounds::kRounding * (1.0F + wide + (std::fabs(least) < kMaxLeast ? std::fabs(least) : 0.0F));
    scratch.reach[s] = screen_.error(group, first + s, scratch.screen) + wide + rounding;
    scratch.threshold[s] = least - scratch.reach[s];
  }
}

// Keeps all neurons of a group that can be among the top k, by their approximate scores z [count x lanes].
void BatchBoundedScorer::keep_possible(std::uint32_t b, std::size_t group, const float* z, std::size_t count,
                                       PredictionBatch& batch, Scratch& scratch) const {
  const std::size_t lanes = batch.inputs[b].lanes;
  set_thresholds(b, group, batch, scratch);
  const std::size_t found =
      kernels::active().select_above(z, count, lanes, scratch.threshold.data(), scratch.places.data());
  for (std::size_t i = 0; i < found; ++i) {
    const std::size_t at = scratch.places[i], s = at % lanes, sample = batch.sample(b, s);
    const auto label = static_cast<std::uint32_t>(group * kGroup + at / lanes);
    scratch.hits[sample].push_back({label, z[at] + scratch.reach[s]});
    if (scratch.hits[sample].size() == kMaxHits) score_hits(b, s, batch, scratch);
  }
}

// Scores the candidates of a sample exactly.
void BatchBoundedScorer::score_hits(std::uint32_t b, std::size_t s, PredictionBatch& batch,
                                    Scratch& scratch) const {
  const std::size_t sample = batch.sample(b, s);
  scratch.scored[b] += hits_.score(scratch.hits[sample], b, s, batch, scratch.candidate_rescorer);
  scratch.least[sample] = batch.best[sample].threshold();
}

// Scores the remaining candidates of a block; a block whose bounds prune too little is listed to be scored
// exactly.
void BatchBoundedScorer::finish(std::uint32_t b, PredictionBatch& batch, Scratch& scratch) const {
  const std::size_t samples = batch.inputs[b].samples;
  for (std::size_t s = 0; s < samples && !is_too_close(b, batch, scratch); ++s)
    score_hits(b, s, batch, scratch);
  if (!is_too_close(b, batch, scratch)) {
    for (std::size_t s = 0; batch.votes && s < samples; ++s)
      hits_.score_last_votes(b, s, batch, scratch.candidate_rescorer);
    return;
  }
  for (std::size_t s = 0; s < samples; ++s) {
    const std::size_t sample = batch.sample(b, s);
    batch.best[sample].clear();
    if (batch.votes) batch.votes->restart(sample);
  }
  scratch.exact.push_back(b);
}

}  // namespace slide
