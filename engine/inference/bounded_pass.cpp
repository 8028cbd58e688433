#include "engine/inference/bounded_pass.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/kernels/kernels.h"

namespace slide {

namespace {

constexpr std::size_t kGroup = WideBounds::kGroup;
constexpr std::size_t kTile = 32 * kGroup;  // neurons per tile: their scores stay in cache
// Neurons whose bounds of the linear term are computed together.
constexpr std::size_t kWideTile = 256 * kGroup;
constexpr std::size_t kWideGroups = kWideTile / kGroup;
// Cost of one exact score for a single sample, in scores of a pass over all neurons.
constexpr std::size_t kExactCost = 64;
// Min number of candidates of a sample that are scored together: few, since exact scores raise the threshold
// and so exclude later candidates.
constexpr std::size_t kMinCandidates = 16;
constexpr std::size_t kManyScored = 512;  // exact scores per sample that pay for any number of neurons
constexpr std::size_t kMoreByRow = 4;     // times as many, where one sample costs its block an exact pass
// |min_score| is below this once a sample has k labels.
constexpr float kMinScoreLimit = std::numeric_limits<float>::max();

}  // namespace

BoundedPass::BoundedPass(const Network& network, std::span<const std::uint32_t> ids, std::size_t kept,
                         BatchBounds::Form form, const WidePostings* postings,
                         std::shared_ptr<const WideBounds> wide_bounds, int threads)
    : output_(network.output()),
      ids_(ids),
      postings_(postings),
      hidden_bounds_(network.output(), ids, std::min(round_up(kept, kTile), ids.size()), form, kGroup,
                     threads),
      rescorer_(network.output(), network.sample_features()),
      wide_bounds_(std::move(wide_bounds)) {
  if (wide_bounds_) return;
  const std::size_t groups = (ids.size() + kGroup - 1) / kGroup;
  for (std::size_t g = 0; g < groups; g += kTile / kGroup)
    reach_.push_back(hidden_bounds_.reach(g, std::min(kTile / kGroup, groups - g)));
  rest_ = reach_;
  for (std::size_t c = rest_.size(); c-- > 1;) {
    rest_[c - 1].length = std::max(rest_[c - 1].length, rest_[c].length);
    rest_[c - 1].bias = std::max(rest_[c - 1].bias, rest_[c].bias);
  }
}

BoundedPass::Scratch BoundedPass::make_scratch(std::size_t blocks, std::size_t lanes) const {
  Scratch scratch;
  const std::size_t samples = blocks * lanes;
  scratch.hidden_bounds = hidden_bounds_.make_scratch(kTile, samples);
  scratch.rescorer = rescorer_.make_scratch();
  scratch.bounded.reserve(blocks);
  scratch.exact.reserve(blocks);
  scratch.left.resize(blocks);
  scratch.scored.resize(samples);
  scratch.wide.resize(blocks);
  scratch.walks.resize(blocks);
  if (wide_bounds_) {
    scratch.bounds = AlignedArray<float>(kWideGroups * samples);
    scratch.by_sample = AlignedArray<float>(lanes * kWideGroups);
  }
  scratch.min_score.resize(samples);
  scratch.candidates.resize(samples);
  for (auto& candidates : scratch.candidates) candidates.reserve(kMaxCandidates);
  scratch.z = AlignedArray<float>(kTile * lanes);
  scratch.max_excess.resize(std::max(lanes, kTile / kGroup));
  scratch.threshold.resize(std::max(lanes, kTile));
  scratch.places.resize(std::max(kGroup * lanes, kTile) + 1);
  return scratch;
}

// Goes through the neurons by tiles: bounds of the linear term, approximate scores, exact scores of the
// candidates. These raise the thresholds of later tiles.
std::span<const std::uint32_t> BoundedPass::score(PredictionBatch& batch, Scratch& scratch) const {
  scratch.limit = std::max(kMinCandidates, 2 * batch.k);
  choose_blocks(batch, scratch);
  for (std::size_t first = 0; first < ids_.size(); first += kWideTile) {
    const std::size_t end = std::min(ids_.size(), first + kWideTile);
    if (!any_left(first, batch, scratch)) break;
    bound_wide_tile(first / kGroup, (end - first + kGroup - 1) / kGroup, batch, scratch);
    for (std::size_t tile = first; tile < end; tile += kTile)
      score_tile(tile, std::min(kTile, end - tile), batch, scratch);
  }
  for (const std::uint32_t b : scratch.bounded) finish(b, batch, scratch);
  scratch.exact.clear();
  for (std::uint32_t b = 0; b < batch.inputs.size(); ++b)
    if (scratch.left[b] < batch.inputs[b].samples) scratch.exact.push_back(b);
  return scratch.exact;
}

// Whether neurons from `first` on can be among the top k of any sample.
bool BoundedPass::any_left(std::size_t first, const PredictionBatch& batch, const Scratch& scratch) const {
  return wide_bounds_ || std::ranges::any_of(scratch.bounded, [&](std::uint32_t b) {
           return may_reach(b, rest_[first / kTile], batch, scratch);
         });
}

// Lists the blocks with samples that have bounds.
void BoundedPass::choose_blocks(PredictionBatch& batch, Scratch& scratch) const {
  scratch.bounded.clear();
  for (std::uint32_t b = 0; b < batch.inputs.size(); ++b) {
    begin_block(b, batch, scratch);
    if (scratch.left[b] > 0) scratch.bounded.push_back(b);
  }
}

// Prepares the bounds of a block, and scores the labels with the largest kNN votes exactly, for a high first
// threshold. Leaves samples without bounds to ExactPass.
void BoundedPass::begin_block(std::uint32_t b, PredictionBatch& batch, Scratch& scratch) const {
  const BlockInput& in = batch.inputs[b];
  const std::size_t first = batch.sample(b, 0);
  hidden_bounds_.begin_block(in, first, scratch.hidden_bounds);
  scratch.wide[b].clear();
  scratch.left[b] = 0;
  for (std::size_t s = 0; s < in.lanes; ++s) {
    const std::size_t i = first + s;
    scratch.candidates[i].clear();
    scratch.scored[i] = 0;
    scratch.min_score[i] = std::numeric_limits<float>::infinity();
    if (s >= in.samples) continue;
    const bool wide = !wide_bounds_ || wide_bounds_->append(batch.single_features(b, s), scratch.wide[b]);
    batch.exact[i] = wide && hidden_bounds_.bounds(i, scratch.hidden_bounds) ? 0 : 1;
    if (batch.exact[i] != 0) continue;
    ++scratch.left[b];
    if (batch.votes) rescorer_.score_first_votes(b, s, batch, scratch.rescorer);
    scratch.min_score[i] = batch.best[i].threshold();
  }
  if (wide_bounds_) postings_->start(*in.features, wide_bounds_->few(), scratch.walks[b]);
}

// Computes bounds of the linear term for some groups of neurons.
void BoundedPass::bound_wide_tile(std::size_t first_group, std::size_t groups, PredictionBatch& batch,
                                  Scratch& scratch) const {
  if (!wide_bounds_) return;
  for (const std::uint32_t b : scratch.bounded) {
    if (scratch.left[b] == 0) continue;
    const BlockInput& in = batch.inputs[b];
    for (std::size_t s = 0; s < in.samples; ++s)
      wide_bounds_->bound(scratch.wide[b], s, first_group, groups,
                          scratch.by_sample.data() + s * kWideGroups);
    kernels::active().transpose(scratch.by_sample.data(), kWideGroups, in.lanes, groups, in.lanes,
                                scratch.bounds.data() + batch.sample(b, 0) * kWideGroups);
  }
}

// Whether any of some neurons can be among the top k of a sample of block b, by the lengths of their rows.
bool BoundedPass::may_reach(std::uint32_t b, const BatchBounds::Reach& reach, const PredictionBatch& batch,
                            const Scratch& scratch) const {
  const std::size_t sample = batch.sample(b, 0);
  for (std::size_t s = sample; s < sample + batch.inputs[b].samples; ++s) {
    if (batch.exact[s] != 0) continue;
    const float most = reach.length * scratch.hidden_bounds.lengths[s] + reach.bias,
                least = scratch.min_score[s];
    if (!(most + WideBounds::kRounding * (1.0F + std::fabs(least)) < least)) return true;
  }
  return false;
}

// Computes approximate scores z [count x lanes] of neurons [first, first + count) for each block that may
// need them, and lists the candidates.
void BoundedPass::score_tile(std::size_t first, std::size_t count, PredictionBatch& batch,
                             Scratch& scratch) const {
  bool loaded = false;
  for (const std::uint32_t b : scratch.bounded) {
    if (scratch.left[b] == 0) continue;
    if (!wide_bounds_ && !may_reach(b, reach_[first / kTile], batch, scratch)) continue;
    if (!loaded) hidden_bounds_.load(first, count, scratch.hidden_bounds);
    loaded = true;
    const BlockInput& in = batch.inputs[b];
    float* z = scratch.z.data();
    hidden_bounds_.score(in, batch.sample(b, 0), batch.output_scratch(), scratch.hidden_bounds, z);
    if (wide_bounds_) postings_->add(*in.features, first, first + count, in.lanes, z, scratch.walks[b]);
    if (in.lanes == 1) {
      list_candidates_of_single(b, first, z, count, batch, scratch);
      continue;
    }
    for (std::size_t a = 0; a < count; a += kGroup)
      list_candidates(b, (first + a) / kGroup, z + a * in.lanes, std::min(kGroup, count - a), batch, scratch);
  }
}

// Upper bound of exact score - approximate score of a group of neurons for sample i of the batch, of which
// `wide` is the bound of the linear term.
float BoundedPass::max_excess(std::size_t group, std::size_t i, float wide, const Scratch& scratch) const {
  const float min_score = scratch.min_score[i];
  const float size = std::fabs(min_score) < kMinScoreLimit ? std::fabs(min_score) : 0.0F;
  const float rounding = WideBounds::kRounding * (1.0F + wide + size);
  return hidden_bounds_.error(group, i, scratch.hidden_bounds) + wide + rounding;
}

// Lists all neurons of a group that can be among the top k as candidates, by their approximate scores z
// [count x lanes].
void BoundedPass::list_candidates(std::uint32_t b, std::size_t group, const float* z, std::size_t count,
                                  PredictionBatch& batch, Scratch& scratch) const {
  const std::size_t lanes = batch.inputs[b].lanes, first = batch.sample(b, 0);
  const float* bounds =
      wide_bounds_ ? scratch.bounds.data() + first * kWideGroups + group % kWideGroups * lanes : nullptr;
  for (std::size_t s = 0; s < lanes; ++s) {
    scratch.max_excess[s] = max_excess(group, first + s, bounds != nullptr ? bounds[s] : 0.0F, scratch);
    scratch.threshold[s] = scratch.min_score[first + s] - scratch.max_excess[s];
  }
  const std::size_t found =
      kernels::active().select_above(z, count, lanes, scratch.threshold.data(), scratch.places.data());
  for (std::size_t i = 0; i < found; ++i) {
    const std::size_t at = scratch.places[i], s = at % lanes, sample = first + s;
    if (batch.exact[sample] != 0) continue;
    add_candidate(b, s, {ids_[group * kGroup + at / lanes], z[at] + scratch.max_excess[s]}, batch, scratch);
  }
}

// list_candidates() for a block of a single sample: of all `count` neurons of a tile from neuron `first` on,
// group by group while fewer than k labels are known, since the candidates of one give the next a threshold.
void BoundedPass::list_candidates_of_single(std::uint32_t b, std::size_t first, const float* z,
                                            std::size_t count, PredictionBatch& batch,
                                            Scratch& scratch) const {
  const std::size_t sample = batch.sample(b, 0);
  const float* bounds =
      wide_bounds_ ? scratch.bounds.data() + sample * kWideGroups + first / kGroup % kWideGroups : nullptr;
  for (std::size_t from = 0, end = 0; from < count && batch.exact[sample] == 0; from = end) {
    const bool known = std::fabs(scratch.min_score[sample]) < kMinScoreLimit;
    end = known ? count : std::min(from + kGroup, count);
    for (std::size_t a = from; a < end; a += kGroup) {
      const float excess =
          max_excess((first + a) / kGroup, sample, bounds != nullptr ? bounds[a / kGroup] : 0.0F, scratch);
      scratch.max_excess[a / kGroup] = excess;
      std::fill_n(scratch.threshold.begin() + static_cast<std::ptrdiff_t>(a), kGroup,
                  scratch.min_score[sample] - excess);
    }
    const std::size_t found = kernels::active().select_above(
        z + from, 1, end - from, scratch.threshold.data() + from, scratch.places.data());
    for (std::size_t i = 0; i < found && batch.exact[sample] == 0; ++i) {
      const std::size_t at = from + scratch.places[i];
      add_candidate(b, 0, {ids_[first + at], z[at] + scratch.max_excess[at / kGroup]}, batch, scratch);
    }
  }
}

// Lists a candidate; scores those of its sample when they are scratch.limit.
void BoundedPass::add_candidate(std::uint32_t b, std::size_t s, CandidateRescorer::Candidate candidate,
                                PredictionBatch& batch, Scratch& scratch) const {
  std::vector<CandidateRescorer::Candidate>& listed = scratch.candidates[batch.sample(b, s)];
  listed.push_back(candidate);
  if (listed.size() >= scratch.limit) score_candidates(b, s, batch, scratch);
}

// Scores the candidates of a sample exactly. Where bounds prune too little, leaves its block to ExactPass,
// which is then faster; with by_row, whose samples do not depend on each other, the sample.
void BoundedPass::score_candidates(std::uint32_t b, std::size_t s, PredictionBatch& batch,
                                   Scratch& scratch) const {
  const std::size_t samples = batch.inputs[b].samples, sample = batch.sample(b, s);
  std::size_t& scored = scratch.scored[batch.by_row ? sample : batch.sample(b, 0)];
  scored += rescorer_.score(scratch.candidates[sample], b, s, batch, scratch.rescorer);
  scratch.min_score[sample] = batch.best[sample].threshold();
  const std::size_t most = std::max(kManyScored, ids_.size() / kExactCost);
  if (scored <= (batch.by_row ? kMoreByRow : samples) * most) return;
  if (batch.by_row) return leave(b, s, batch, scratch);
  for (std::size_t one = 0; one < samples; ++one) leave(b, one, batch, scratch);
}

// Leaves a sample to ExactPass.
void BoundedPass::leave(std::uint32_t b, std::size_t s, PredictionBatch& batch, Scratch& scratch) const {
  const std::size_t sample = batch.sample(b, s);
  if (batch.exact[sample] != 0) return;
  batch.exact[sample] = 1;
  --scratch.left[b];
  scratch.min_score[sample] = std::numeric_limits<float>::infinity();
  scratch.candidates[sample].clear();
  batch.best[sample].clear();
}

// Scores the remaining candidates of a block.
void BoundedPass::finish(std::uint32_t b, PredictionBatch& batch, Scratch& scratch) const {
  const std::size_t samples = batch.inputs[b].samples;
  for (std::size_t s = 0; s < samples; ++s)
    if (batch.exact[batch.sample(b, s)] == 0) score_candidates(b, s, batch, scratch);
  for (std::size_t s = 0; is_whole() && batch.votes && s < samples; ++s)
    if (batch.exact[batch.sample(b, s)] == 0) rescorer_.score_last_votes(b, s, batch, scratch.rescorer);
}

}  // namespace slide
