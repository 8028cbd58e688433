#include "engine/inference/candidate_scorer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "engine/wide/linear_term.h"

namespace slide {

namespace {

// Candidates that get an exact linear term: kExactOf for each wanted label, but at least kMinExact.
constexpr std::size_t kMinExact = 64, kExactOf = 4;
constexpr std::size_t kManyAlways = 1024;  // neurons scored for every sample, from which on bounds pay
constexpr std::size_t kRowsAhead = 8;      // prefetch distance in candidates

// Ascending as floats are, except for NaN.
std::uint32_t ordered_bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return (bits & 0x80000000U) != 0 ? ~bits : bits | 0x80000000U;
}

}  // namespace

// Builds the search index, whose longest rows are scored for every sample, and the indices of the linear
// term.
CandidateScorer::CandidateScorer(const Network& network, std::size_t candidates, bool bound_first,
                                 int threads)
    : network_(network),
      candidates_(candidates),
      always_(network.output().size()),
      pass_(network.output(), linear_term_of(network.output()) != nullptr) {
  const Layer& output = network.output();
  if (!asks_training_tables(network)) {
    search_ = lsh::NeuronIndex::fixed(output.weight_rows(), output.size(), output.inputs(),
                                      network.config().train.seed, threads);
    always_ids_.assign(search_->longest().begin(), search_->longest().end());
    std::sort(always_ids_.begin(), always_ids_.end());
    for (const std::uint32_t id : always_ids_) always_[id] = true;
  }
  if (linear_term_of(output) != nullptr) {
    wide_.emplace(*linear_term_of(output), network.sample_features(), always_, threads);
    if (search_)
      always_postings_.emplace(*linear_term_of(output), always_ids_, network.sample_features(), threads);
  }
  if (!bound_first || always_postings_ || always_ids_.size() < kManyAlways) return;
  bounded_.emplace(network, search_->longest(), always_ids_.size(), BatchBounds::fastest(output), nullptr,
                   nullptr, threads);
  if (!bounded_->bounded()) bounded_.reset();
}

std::size_t CandidateScorer::bytes() const {
  return (search_ ? search_->bytes() : 0) + (wide_ ? wide_->bytes() : 0) +
         (always_postings_ ? always_postings_->bytes() : 0) + (bounded_ ? bounded_->bytes() : 0);
}

std::unique_ptr<Scorer::Scratch> CandidateScorer::make_scratch(std::size_t blocks, std::size_t lanes) const {
  auto scratch = std::make_unique<Scratch>();
  const std::size_t limit = 2 * candidates_;  // candidates_ from the tables, candidates_ from the linear term
  scratch->pass = pass_.make_scratch(blocks, lanes);
  if (bounded_) scratch->bounded = bounded_->make_scratch(blocks, lanes);
  scratch->all_blocks.resize(blocks);
  std::iota(scratch->all_blocks.begin(), scratch->all_blocks.end(), 0U);
  if (search_) scratch->search = search_->make_scratch(lanes);
  if (wide_) scratch->wide = wide_->make_scratch();
  scratch->candidates.reserve(limit);
  scratch->found.reserve(limit);
  scratch->seen = lsh::IdSet(network_.labels());
  scratch->x = AlignedArray<float>(network_.output().inputs());
  if (wide_) scratch->by_feature = AlignedArray<float>(network_.sample_features());
  scratch->z = AlignedArray<float>(limit);
  scratch->keys.reserve(limit);
  return scratch;
}

void CandidateScorer::score(PredictionBatch& batch, Scorer::Scratch& scratch) const {
  auto& own = static_cast<Scratch&>(scratch);
  if (search_) score_always(batch, own);
  for (std::size_t b = 0; b < batch.inputs.size(); ++b) {
    const BlockInput& in = batch.inputs[b];
    if (search_) search_->project({in.xt, in.width, in.lanes, in.samples}, own.search);
    for (std::size_t s = 0; s < in.samples; ++s) score_sample(b, s, batch, own);
  }
}

// Scores the neurons of always_ids_.
void CandidateScorer::score_always(PredictionBatch& batch, Scratch& scratch) const {
  auto blocks = std::span<const std::uint32_t>(scratch.all_blocks).first(batch.inputs.size());
  std::ranges::fill(batch.exact, 1);
  if (bounded_ && BoundedPass::may_score(batch)) blocks = bounded_->score(batch, scratch.bounded);
  pass_.score(always_ids_, always_postings_ ? &*always_postings_ : nullptr, blocks, batch, scratch.pass);
}

// Scores the candidates z [candidates] of one sample: votes first, so that they get their scores; then offers
// those with an exact score to the top k.
void CandidateScorer::score_sample(std::size_t b, std::size_t s, PredictionBatch& batch,
                                   Scratch& scratch) const {
  const SparseRow row = batch.single_features(b, s);
  const std::size_t i = batch.sample(b, s);
  if (wide_) wide_->start(row, scratch.wide);
  find_candidates(b, s, batch, scratch);
  score_candidates(b, s, batch, scratch);
  if (wide_) {
    add_linear_term(row, batch.k, scratch);
    wide_->clear(scratch.wide);
  } else {
    scratch.exact.resize(scratch.candidates.size());
    std::iota(scratch.exact.begin(), scratch.exact.end(), 0U);
  }
  for (std::size_t c = 0; c < scratch.votes.size(); ++c)
    batch.votes->set_score(i, scratch.votes[c], scratch.z[c]);
  for (const std::uint32_t c : scratch.exact) batch.best[i].offer(scratch.candidates[c], scratch.z[c]);
  if (!batch.log_softmax) return;
  for (std::size_t c = 0; c < scratch.candidates.size(); ++c) batch.add_log_norm(i, scratch.z[c]);
}

// Lists the distinct candidates of a sample, of labels that have no score yet: first those with kNN votes, in
// order of votes, then neurons from tables and from the linear term.
void CandidateScorer::find_candidates(std::size_t b, std::size_t s, PredictionBatch& batch,
                                      Scratch& scratch) const {
  const std::size_t i = batch.sample(b, s);
  if (search_) {
    search_->find(s, batch.inputs[b].lanes, candidates_, scratch.search, scratch.found);
  } else {
    query_tables(batch.blocks[b].rows[s], batch.by_row ? 0 : batch.first + i, batch, scratch);
  }
  if (wide_) wide_->best(candidates_, scratch.wide, scratch.found);
  scratch.candidates.clear();
  scratch.seen.clear();
  scratch.votes.clear();
  const auto votes = batch.votes ? batch.votes->of(i) : std::span<const KnnVotes::Vote>();
  for (std::uint32_t v = 0; v < votes.size(); ++v) {
    scratch.seen.insert(votes[v].label);
    if (!std::isinf(batch.votes->score(i, v))) continue;
    scratch.votes.push_back(v);
    scratch.candidates.push_back(votes[v].label);
  }
  for (const std::uint32_t id : scratch.found) {
    if (scratch.seen.insert(id)) scratch.candidates.push_back(id);
  }
}

// scratch.z = scores by the hidden layers.
void CandidateScorer::score_candidates(std::size_t b, std::size_t s, PredictionBatch& batch,
                                       Scratch& scratch) const {
  BlockInput one = batch.inputs[b];
  one.lanes = one.samples = 1;
  one.xt = one.x + s * one.ldx;
  if (search_) {  // aligned copy
    std::copy_n(one.xt, one.width, scratch.x.data());
    one.xt = scratch.x.data();
  }
  if (wide_) one.features = nullptr;
  if (scratch.z.size() < scratch.candidates.size())
    scratch.z = AlignedArray<float>(std::bit_ceil(scratch.candidates.size()));
  network_.output().score({&one, 1}, scratch.candidates, batch.output_scratch(), scratch.z.data());
}

// Adds the linear term to scratch.z: exactly for the candidates with votes and the best others, listed in
// scratch.exact; approximately, from the strongest weights of each feature, for the rest.
void CandidateScorer::add_linear_term(const SparseRow& row, std::size_t k, Scratch& scratch) const {
  const std::size_t voted = scratch.votes.size();
  const std::vector<std::uint32_t>& ids = scratch.candidates;
  std::vector<std::uint64_t>& keys = scratch.keys;
  float* z = scratch.z.data();
  keys.clear();
  for (std::size_t c = voted; c < ids.size(); ++c)
    keys.push_back(std::uint64_t{ordered_bits(z[c] + scratch.wide.scores[ids[c]])} << 32 | c);
  const std::size_t others = std::min(std::max(kMinExact, kExactOf * k), keys.size());
  std::nth_element(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(others), keys.end(),
                   std::greater<>());
  scratch.exact.resize(voted);
  std::iota(scratch.exact.begin(), scratch.exact.end(), 0U);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto c = static_cast<std::uint32_t>(keys[i]);
    if (i < others)
      scratch.exact.push_back(c);
    else
      z[c] += scratch.wide.scores[ids[c]];
  }
  const LinearTerm& wide = *linear_term_of(network_.output());
  for (std::size_t i = 0; i < row.ids.size(); ++i) scratch.by_feature[row.ids[i]] = row.values[i];
  for (std::size_t i = 0; i < scratch.exact.size(); ++i) {
    if (i + kRowsAhead < scratch.exact.size()) wide.prefetch(ids[scratch.exact[i + kRowsAhead]]);
    const std::uint32_t c = scratch.exact[i];
    wide.add_scores({&ids[c], 1}, scratch.by_feature.data(), scratch.weights, z + c);
  }
  for (const std::uint32_t feature : row.ids) scratch.by_feature[feature] = 0.0F;
}

// Queries the training tables: candidates of the first layer's neurons for one sparse sample.
void CandidateScorer::query_tables(const SparseRow& row, std::size_t sample, PredictionBatch& batch,
                                   Scratch& scratch) const {
  SamplerScratch& sampler = batch.output_scratch().sampler;
  Rng rng(network_.config().train.seed, Purpose::kProbe, sample);
  scratch.found.clear();
  sampler.seen.clear();
  network_.output().index()->query_sparse(row.ids, row.values, candidates_, rng, sampler.query, sampler.seen,
                                          scratch.found);
}

}  // namespace slide
