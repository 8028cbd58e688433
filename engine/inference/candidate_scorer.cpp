#include "engine/inference/candidate_scorer.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace slide {

CandidateScorer::CandidateScorer(const Network& network, std::size_t candidates, int threads)
    : network_(network),
      candidates_(candidates),
      pass_(network.output(), network.output().wide() != nullptr) {
  const Layer& output = network.output();
  if (output.wide() != nullptr)
    postings_.emplace(*output.wide(), output.all_neurons(), network.sample_features(), true);
  if (asks_training_tables(network)) return;
  search_.emplace(output.weight_rows(), output.inputs(), output.bias().weights.span(),
                  network.config().train.seed, threads);
  always_.assign(output.size(), false);
  for (const std::uint32_t id : search_->always()) always_[id] = true;
  if (postings_)
    always_postings_.emplace(*output.wide(), search_->always(), network.sample_features(), false);
}

std::size_t CandidateScorer::bytes() const {
  return (search_ ? search_->bytes() : 0) + (postings_ ? postings_->bytes() : 0) +
         (always_postings_ ? always_postings_->bytes() : 0);
}

std::unique_ptr<Scorer::Scratch> CandidateScorer::make_scratch(std::size_t blocks, std::size_t lanes) const {
  auto scratch = std::make_unique<Scratch>();
  scratch->pass = pass_.make_scratch(blocks, lanes);
  scratch->all_blocks.resize(blocks);
  std::iota(scratch->all_blocks.begin(), scratch->all_blocks.end(), 0U);
  if (search_) scratch->search = search_->make_scratch(lanes);
  if (postings_) scratch->postings = postings_->make_scratch();
  scratch->candidates.reserve(candidates_);
  scratch->wide_best.reserve(candidates_);
  scratch->seen = lsh::IdSet(network_.labels());
  scratch->x = AlignedArray<float>(network_.output().inputs());
  scratch->z = AlignedArray<float>(candidates_);
  return scratch;
}

void CandidateScorer::score(PredictionBatch& batch, Scorer::Scratch& scratch) const {
  auto& own = static_cast<Scratch&>(scratch);
  if (search_) {
    const auto blocks = std::span(own.all_blocks).first(batch.inputs.size());
    pass_.score(search_->always(), always_postings_ ? &*always_postings_ : nullptr, blocks, batch, own.pass);
  }
  for (std::size_t b = 0; b < batch.inputs.size(); ++b) {
    const BlockInput& in = batch.inputs[b];
    if (search_) search_->project({in.xt, in.width, in.lanes, in.samples}, own.search);
    for (std::size_t s = 0; s < in.samples; ++s) score_sample(b, s, batch, own);
  }
}

void CandidateScorer::score_sample(std::size_t b, std::size_t s, PredictionBatch& batch,
                                   Scratch& scratch) const {
  const SparseRow row = batch.single_features(b, s);
  if (postings_) postings_->start(row, scratch.postings);
  find_candidates(b, s, batch, scratch);
  score_candidates(b, s, batch, scratch);
  if (postings_) postings_->clear(row, scratch.postings);
  const std::size_t i = batch.sample(b, s);
  const auto votes = batch.votes ? batch.votes->of(i) : std::span<const KnnVotes::Vote>();
  for (std::size_t v = 0, c = 0; v < votes.size(); ++v) {
    if (!is_always(votes[v].label)) batch.votes->set_score(i, v, scratch.z[c++]);
  }
  for (std::size_t c = 0; c < scratch.candidates.size(); ++c) {
    if (batch.log_softmax) batch.add_log_norm(i, scratch.z[c]);
    batch.best[i].offer(scratch.candidates[c], scratch.z[c]);
  }
}

void CandidateScorer::find_candidates(std::size_t b, std::size_t s, PredictionBatch& batch,
                                      Scratch& scratch) const {
  const std::size_t i = batch.sample(b, s);
  if (search_) {
    search_->find(s, batch.inputs[b].lanes, candidates_, scratch.search, scratch.candidates);
  } else {
    query_tables(batch.blocks[b].rows[s], batch.by_row ? 0 : batch.first + i, batch, scratch);
  }
  if (postings_) add_wide_candidates(scratch);
  if (batch.votes) put_votes_first(i, batch, scratch);
}

// Queries the training tables: candidates of the first layer's neurons for one sparse sample.
void CandidateScorer::query_tables(const SparseRow& row, std::size_t sample, PredictionBatch& batch,
                                   Scratch& scratch) const {
  SamplerScratch& sampler = batch.output_scratch().sampler;
  Rng rng(network_.config().train.seed, Purpose::kProbe, sample);
  scratch.candidates.clear();
  sampler.seen.clear();
  network_.output().index()->query_sparse(row.ids, row.values, candidates_, rng, sampler.query, sampler.seen,
                                          scratch.candidates);
}

// Appends the neurons of largest linear term that the tables did not return.
void CandidateScorer::add_wide_candidates(Scratch& scratch) const {
  scratch.wide_best.clear();
  postings_->best(candidates_, scratch.postings, scratch.wide_best);
  scratch.seen.clear();
  for (const std::uint32_t id : scratch.candidates) scratch.seen.insert(id);
  for (const std::uint32_t id : scratch.wide_best) {
    if (is_always(id) || !scratch.seen.insert(id)) continue;
    scratch.candidates.push_back(id);
  }
}

// Moves the labels with kNN votes before sample i's other candidates, without those that are scored for all
// samples.
void CandidateScorer::put_votes_first(std::size_t i, const PredictionBatch& batch, Scratch& scratch) const {
  scratch.found.assign(scratch.candidates.begin(), scratch.candidates.end());
  scratch.candidates.clear();
  scratch.seen.clear();
  for (const KnnVotes::Vote& vote : batch.votes->of(i)) {
    if (is_always(vote.label)) continue;
    scratch.seen.insert(vote.label);
    scratch.candidates.push_back(vote.label);
  }
  for (const std::uint32_t id : scratch.found) {
    if (scratch.seen.insert(id)) scratch.candidates.push_back(id);
  }
}

void CandidateScorer::score_candidates(std::size_t b, std::size_t s, PredictionBatch& batch,
                                       Scratch& scratch) const {
  const BlockInput& in = batch.inputs[b];
  BlockInput one = in;
  one.lanes = one.samples = 1;
  one.xt = in.x + s * in.ldx;
  if (search_) {  // aligned copy
    std::copy_n(one.xt, in.width, scratch.x.data());
    one.xt = scratch.x.data();
  }
  if (postings_) one.features = nullptr;
  if (scratch.z.size() < scratch.candidates.size())
    scratch.z = AlignedArray<float>(std::bit_ceil(scratch.candidates.size()));
  network_.output().score({&one, 1}, scratch.candidates, batch.output_scratch(), scratch.z.data());
  if (postings_) postings_->add(scratch.candidates, scratch.postings, scratch.z.data());
}

}  // namespace slide
