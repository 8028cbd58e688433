#include "engine/inference/inference.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/inference/panel_votes.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {
constexpr std::size_t kLanes = 128;         // most samples scored together
constexpr std::size_t kMostBlocks = 4;      // such groups in a panel: they share each pass over the weights
constexpr std::size_t kManyNeurons = 4096;  // with less, rough scores save less than they cost
constexpr std::size_t kFewBest = 256;       // of more, rough scores leave too many neurons
constexpr std::size_t kMostHits = 2048;     // of a sample by rough scores; twice as many as may be left

// sum = log(exp(sum) + exp(more))
void add_log(double more, double& sum) {
  const double larger = std::max(sum, more), smaller = std::min(sum, more);
  sum = larger + std::log1p(std::exp(smaller - larger));
}

// The most feature values of `lanes` samples that are scored together.
std::size_t most_entries(const Dataset& data, std::size_t lanes) {
  std::size_t most = 0;
  for (std::size_t first = 0; first < data.size(); first += lanes) {
    std::size_t entries = 0;
    for (std::size_t i = first; i < std::min(data.size(), first + lanes); ++i)
      entries += data.features(i).ids.size();
    most = std::max(most, entries);
  }
  return most;
}

}  // namespace

double probability_of(LossKind loss, double score) {
  return needs_log_softmax(loss) ? std::exp(score) : 1.0 / (1.0 + std::exp(-score));
}

double score_of(LossKind loss, double probability) {
  constexpr double kLeast = std::numeric_limits<double>::min(), kMost = 1.0 - 0x1p-53;
  const double p = std::clamp(probability, kLeast, kMost);
  return std::log(p) - (needs_log_softmax(loss) ? 0.0 : std::log1p(-p));
}

void TopK::reset(std::size_t k) {
  entries_.resize(k);
  size_ = 0;
}

void TopK::offer(std::uint32_t label, float score) {
  const Prediction entry{label, score};
  const auto better = [](const Prediction& a, const Prediction& b) {
    return a.score > b.score || (a.score == b.score && a.label < b.label);
  };
  if (size_ == entries_.size()) {
    if (size_ == 0 || !better(entry, entries_.back())) return;
    --size_;
  }
  std::size_t at = size_++;
  for (; at > 0 && better(entry, entries_[at - 1]); --at) entries_[at] = entries_[at - 1];
  entries_[at] = entry;
}

void TopK::shift(float offset) {
  for (std::size_t i = 0; i < size_; ++i) entries_[i].score += offset;
}

// One thread's memory for a panel of samples.
struct Predictor::Panel {
  std::size_t lanes = 0;    // of each block
  std::size_t entries = 0;  // feature values there is room for
  Wanted wanted;
  bool log_softmax = false;  // wanted, or needed for probabilities
  std::vector<Block> blocks;
  std::vector<BlockInput> inputs;
  std::vector<std::uint32_t> turn;  // numbers of the blocks that are scored now, those scored roughly first
  std::vector<BlockInput> hidden;   // theirs without features
  std::size_t rough_blocks = 0;     // of turn
  ThreadScratch scratch;
  std::vector<TopK> best;
  AlignedArray<float> z;
  std::vector<float> threshold;
  std::vector<double> log_norm;  // of each sample: log of the sum of exp(logit) so far
  std::vector<float> chunk_norm;
  std::vector<std::uint32_t> hits;
  std::vector<std::uint32_t> candidates;
  AlignedArray<float> query;
  lsh::SearchScratch search;
  Screen::Scratch screen;
  PanelScreen::Scratch panel_screen;
  struct Hit {
    std::uint32_t label;
    float score;  // rough
  };
  std::vector<std::vector<Hit>> hits_of;  // by sample: what could be among the best
  enum class Scores : std::uint8_t { kExact, kRough, kTooClose };
  std::vector<Scores> scores;  // by block; too close: for a sample, rough ones leave too many neurons
  WidePostings::Scratch postings;
  std::vector<WidePostings::Walk> walks;  // of the blocks
  lsh::IdSet seen;                        // of one sample's candidates
  std::vector<std::uint32_t> wide_best, found;
  std::optional<PanelVotes> votes;  // of the neighbours
};

Predictor::Predictor(const TrainedNetwork& trained, const InferenceOptions& options)
    : network_(trained.network), neighbours_(trained.neighbours), options_(options) {
  const Network& network = network_;
  const Layer& output = network.output();
  if (output.wide() != nullptr)
    postings_.emplace(*output.wide(), output.all_neurons(), network.features(),
                      options.mode == Inference::kLsh);
  if (options.mode == Inference::kFull) {
    const bool normalised = neighbours_ != nullptr && needs_log_softmax(network.config().loss.kind);
    if (options.soon && network.input() && !normalised)
      screen_.emplace(output, postings_ ? &*postings_ : nullptr);
    const bool rough_first =
        options.rough_first.value_or(kernels::active().fast_bf16 && output.size() >= kManyNeurons);
    if (rough_first && network.input() && !normalised && !output.weights().half()) {
      panel_screen_.emplace(output, resolve_threads(options.threads));
      if (!panel_screen_->bounded()) panel_screen_.reset();
    }
    return;
  }
  if (output.index() == nullptr) {
    fail_input(
        "inference = lsh needs hash tables, but the output layer is not sampled by lsh; use inference = "
        "full");
  }
  if (!network.input() && network.layers().size() == 1) return;  // sparse inputs: the training tables answer
  search_.emplace(output.weight_rows(), output.inputs(), output.bias().weights.span(),
                  network.config().train.seed, resolve_threads(options.threads));
  always_.assign(output.size(), false);
  for (const std::uint32_t id : search_->always()) always_[id] = true;
  if (postings_) always_postings_.emplace(*output.wide(), search_->always(), network.features(), false);
}

Predictor::Scratch::Scratch() = default;
Predictor::Scratch::Scratch(Scratch&& other) noexcept = default;
Predictor::Scratch& Predictor::Scratch::operator=(Scratch&& other) noexcept = default;
Predictor::Scratch::~Scratch() = default;

void Predictor::check(const Dataset& data) const {
  if (data.feature_count() > network_.features()) {
    fail_input("the data has {} features, the model knows {}; use data with the model's feature ids",
               data.feature_count(), network_.features());
  }
}

// Neurons scored at a time. Rows and scores stay in the second-level cache; with postings only the scores of
// one block do, but each feature is met less often.
std::size_t Predictor::neurons_at_once() const {
  return postings_ ? 1024 : 256;
}

void Predictor::reserve(std::size_t blocks, std::size_t lanes, std::size_t entries, Panel& panel) const {
  if (panel.lanes == lanes && panel.entries >= entries) return;
  const std::size_t candidates =
      options_.mode == Inference::kLsh ? std::min(options_.candidates, network_.labels()) : 0;
  panel.lanes = lanes;
  panel.entries = entries;
  panel.blocks.clear();
  for (std::size_t b = 0; b < blocks; ++b)
    panel.blocks.push_back(network_.make_inference_block(lanes, entries));
  panel.scratch = network_.make_inference_scratch(lanes, entries);
  panel.best.resize(blocks * lanes);
  const std::size_t rows = neurons_at_once();
  panel.z = AlignedArray<float>(std::max(blocks * rows * lanes, candidates));
  panel.candidates.reserve(candidates);
  panel.scores.resize(blocks);
  panel.turn.reserve(blocks);
  panel.hidden.reserve(blocks);
  panel.walks.resize(blocks);
  const bool lsh = options_.mode == Inference::kLsh;
  if (neighbours_ != nullptr && !panel.votes) panel.votes.emplace(*neighbours_);
  if (lsh && (postings_ || panel.votes)) panel.seen = lsh::IdSet(network_.labels());
  if (lsh && postings_) {
    panel.postings = postings_->make_scratch();
    panel.wide_best.reserve(candidates);
  }
  if (screen_ && lanes == 1) panel.screen = screen_->make_scratch();
  if (panel_screen_ && lanes > 1) {
    panel.panel_screen = panel_screen_->make_scratch(rows, blocks * lanes);
    panel.hits_of.resize(blocks * lanes);
    for (auto& hits : panel.hits_of) hits.reserve(kMostHits);
  }
  if (search_) panel.search = search_->make_scratch(lanes);
  panel.threshold.resize(lanes);
  panel.chunk_norm.resize(lanes);
  panel.hits.resize(rows * lanes + 1);
  panel.query = AlignedArray<float>(network_.output().inputs());
}

void Predictor::predict(const Dataset& data, const Sink& sink) const {
  check(data);
  const auto groups = (data.size() + kLanes - 1) / kLanes;
  const auto most = static_cast<std::size_t>(resolve_threads(options_.threads));
  const std::size_t blocks = std::clamp<std::size_t>(groups / most, 1, kMostBlocks);  // so that all have work
  const std::size_t panels = (groups + blocks - 1) / blocks, size = blocks * kLanes;
  const int threads = static_cast<int>(std::min(panels, most));
  const std::size_t entries = most_entries(data, kLanes);
  std::vector<Panel> work(std::max(1, threads));
  for (Panel& panel : work) {
    panel.wanted = {options_.k, options_.log_softmax};
    reserve(blocks, kLanes, entries, panel);
  }
  parallel_for(panels, threads,
               [&](std::size_t p, int thread) { predict_panel(data, p * size, work[thread], sink); });
}

void Predictor::predict(const Dataset& data, const Wanted& wanted, Scratch& scratch, const Sink& sink) const {
  check(data);
  const bool alone = data.size() == 1;
  const std::size_t blocks = alone ? 1 : kMostBlocks, lanes = alone ? 1 : kLanes;
  std::unique_ptr<Panel>& panel = alone ? scratch.one : scratch.many;
  if (!panel) panel = std::make_unique<Panel>();
  // Powers of two, so that growing requests do not ask for memory each time.
  reserve(blocks, lanes, std::bit_ceil(most_entries(data, lanes)), *panel);
  panel->wanted = wanted;
  for (std::size_t first = 0; first < data.size(); first += blocks * lanes)
    predict_panel(data, first, *panel, sink);
}

void Predictor::predict_panel(const Dataset& data, std::size_t first, Panel& panel, const Sink& sink) const {
  const std::size_t lanes = panel.lanes;
  const std::size_t end = std::min(data.size(), first + panel.blocks.size() * lanes);
  panel.inputs.clear();
  if (panel.votes) panel.votes->clear();
  for (std::size_t b = 0; b < panel.blocks.size() && first + b * lanes < end; ++b) {
    Block& block = panel.blocks[b];
    block.clear_samples();
    for (std::size_t i = first + b * lanes; i < std::min(end, first + (b + 1) * lanes); ++i) {
      network_.add_row(data.features(i), block);
      if (panel.votes) panel.votes->ask(block.rows.back());
    }
    block.lanes = block.rows.size() == 1 ? 1 : round_up(block.rows.size(), kernels::kLaneMultiple);
    panel.inputs.push_back(network_.infer_hidden(block, panel.scratch));
  }
  const LossKind loss = network_.config().loss.kind;
  panel.log_softmax = panel.votes ? needs_log_softmax(loss) : panel.wanted.log_softmax;
  for (std::size_t i = 0; i < end - first; ++i) panel.best[i].reset(panel.wanted.k);
  panel.log_norm.assign(panel.best.size(), -std::numeric_limits<double>::infinity());
  const bool all = options_.mode == Inference::kFull || options_.candidates >= network_.labels();
  begin_turn(all && panel.lanes > 1 && panel.wanted.k <= kFewBest && !panel.log_softmax, panel);
  if (screen_ && panel.lanes == 1 && !panel.log_softmax) {
    score_screened(panel);
  } else if (all) {
    do {
      score_shared(network_.output().all_neurons(), postings_ ? &*postings_ : nullptr, panel);
      settle(panel);
    } while (!panel.turn.empty());
  } else {
    if (search_) score_shared(search_->always(), always_postings_ ? &*always_postings_ : nullptr, panel);
    score_candidates(first, panel);
  }
  for (std::size_t i = 0; i < end - first; ++i) {
    const double norm = panel.log_softmax ? panel.log_norm[i] : 0.0;
    if (panel.log_softmax) panel.best[i].shift(static_cast<float>(-norm));
    if (panel.votes) panel.votes->mix(i, loss, norm, panel.best[i]);
  }
  for (std::size_t i = first; i < end; ++i) sink(i, panel.best[i - first].best());
}

// Lists all blocks of the panel to be scored.
void Predictor::begin_turn(bool may_be_rough, Panel& panel) const {
  panel.turn.clear();
  for (std::uint32_t b = 0; b < panel.inputs.size(); ++b) {
    const BlockInput& in = panel.inputs[b];
    const std::size_t first = b * panel.lanes;
    panel.scores[b] = Panel::Scores::kExact;
    if (!may_be_rough || !panel_screen_ || !panel_screen_->start(in, first, panel.panel_screen)) continue;
    panel.scores[b] = Panel::Scores::kRough;
    panel.turn.push_back(b);
    for (std::size_t i = first; i < first + in.samples; ++i) panel.hits_of[i].clear();
  }
  panel.rough_blocks = panel.turn.size();
  for (std::uint32_t b = 0; b < panel.inputs.size(); ++b) {
    if (panel.scores[b] == Panel::Scores::kExact) panel.turn.push_back(b);
  }
}

// Labels of lower scores are not among the best of sample s of block b.
float Predictor::least_of_use(std::size_t b, std::size_t s, const Panel& panel) const {
  const std::size_t i = b * panel.lanes + s;
  const float threshold = panel.best[i].threshold();
  const bool rough = panel.scores[b] == Panel::Scores::kRough;
  return rough ? threshold - 2 * panel_screen_->error(i, panel.panel_screen) : threshold;
}

// Keeps a label whose rough score says that it can be among the best.
void Predictor::note_hit(std::size_t b, std::size_t s, std::uint32_t label, float score, Panel& panel) const {
  std::vector<Panel::Hit>& hits = panel.hits_of[b * panel.lanes + s];
  const float least = least_of_use(b, s, panel);
  if (score < least) return;
  if (hits.size() == kMostHits) {
    std::erase_if(hits, [&](const Panel::Hit& hit) { return hit.score < least; });
    if (hits.size() > kMostHits / 2) panel.scores[b] = Panel::Scores::kTooClose;
  }
  hits.push_back({label, score});
}

// Keeps the best of the scores z [chunk x lanes] of block b; where they are rough, all that could be among
// them.
void Predictor::keep_best(std::span<const std::uint32_t> chunk, std::size_t b, float* z, Panel& panel) const {
  if (panel.scores[b] == Panel::Scores::kTooClose) return;
  const BlockInput& in = panel.inputs[b];
  TopK* best = panel.best.data() + b * panel.lanes;
  for (std::size_t s = 0; s < in.lanes; ++s) {
    panel.threshold[s] = s < in.samples ? least_of_use(b, s, panel) : std::numeric_limits<float>::infinity();
  }
  const std::size_t hits =
      kernels::active().select_above(z, chunk.size(), in.lanes, panel.threshold.data(), panel.hits.data());
  for (std::size_t h = 0; h < hits; ++h) {
    const std::uint32_t at = panel.hits[h], s = at % static_cast<std::uint32_t>(in.lanes);
    const std::uint32_t label = chunk[at / in.lanes];
    best[s].offer(label, z[at]);
    if (panel.scores[b] == Panel::Scores::kRough) note_hit(b, s, label, z[at], panel);
  }
  if (!panel.log_softmax) return;
  kernels::active().softmax_lanes(z, chunk.size(), in.lanes, 1.0f, panel.chunk_norm.data());
  for (std::size_t s = 0; s < in.samples; ++s)
    add_log(panel.chunk_norm[s], panel.log_norm[b * panel.lanes + s]);
}

// Puts the best by exact scores in place of sample s's best by rough ones; its votes' labels get exact
// scores, too.
void Predictor::settle(std::size_t b, std::size_t s, Panel& panel) const {
  const BlockInput& in = panel.inputs[b];
  const std::size_t i = b * panel.lanes + s;
  const auto missing = [&](std::uint32_t label) {
    return panel_screen_->correction(in, s, label, panel.panel_screen);
  };
  panel_screen_->take(in, s, panel.panel_screen);
  const float least = least_of_use(b, s, panel);
  TopK& best = panel.best[i];
  best.clear();
  for (const Panel::Hit& hit : panel.hits_of[i]) {
    if (hit.score < least) continue;
    const float score = hit.score + missing(hit.label);
    if (score > best.threshold()) best.offer(hit.label, score);
  }
  const auto votes = panel.votes ? panel.votes->of(i) : std::span<const PanelVotes::Vote>();
  for (std::size_t v = 0; v < votes.size(); ++v)
    panel.votes->set(i, v, panel.votes->score(i, v) + missing(votes[v].label));
}

// After rough scores of the turn's first blocks: leaves in the turn those that need exact ones of all
// neurons.
void Predictor::settle(Panel& panel) const {
  panel.turn.resize(panel.rough_blocks);
  panel.rough_blocks = 0;
  std::erase_if(panel.turn, [&](std::uint32_t b) {
    const std::size_t first = b * panel.lanes, samples = panel.inputs[b].samples;
    if (panel.scores[b] == Panel::Scores::kRough) {
      for (std::size_t s = 0; s < samples; ++s) settle(b, s, panel);
      return true;
    }
    panel.scores[b] = Panel::Scores::kExact;
    for (std::size_t i = first; i < first + samples; ++i) {
      panel.best[i].clear();
      if (panel.votes) panel.votes->restart(i);
    }
    return false;
  });
}

// Scores the neurons `ids`, ascending, for all samples of the turn's blocks; the wide path feature by feature
// where there are postings of these neurons.
void Predictor::score_shared(std::span<const std::uint32_t> ids, const WidePostings* postings,
                             Panel& panel) const {
  panel.hidden.clear();
  std::size_t rough_lanes = 0;
  for (const std::uint32_t b : panel.turn) {
    if (panel.hidden.size() < panel.rough_blocks) rough_lanes += panel.inputs[b].lanes;
    panel.hidden.push_back(panel.inputs[b]);
    if (postings == nullptr) continue;
    postings->start(*panel.inputs[b].features, panel.walks[b]);
    panel.hidden.back().features = nullptr;
  }
  const auto rough = std::span(panel.hidden).first(panel.rough_blocks);
  const auto exact = std::span(panel.hidden).subspan(panel.rough_blocks);
  const std::size_t rows = neurons_at_once();
  for (std::size_t row = 0; row < ids.size(); row += rows) {
    const auto chunk = ids.subspan(row, std::min(rows, ids.size() - row));
    float* z = panel.z.data();
    if (!rough.empty()) panel_screen_->score(rough, chunk, panel.panel_screen, z);
    if (!exact.empty())
      network_.output().score(exact, chunk, panel.scratch.layers.back(), z + chunk.size() * rough_lanes);
    for (const std::uint32_t b : panel.turn) {
      const BlockInput& in = panel.inputs[b];
      if (postings != nullptr) {
        postings->add(*in.features, row, row + chunk.size(), in.lanes, z, panel.walks[b]);
      }
      for (std::size_t s = 0; panel.votes && s < in.samples; ++s)
        panel.votes->note(b * panel.lanes + s, chunk, z + s, in.lanes);
      keep_best(chunk, b, z, panel);
      z += chunk.size() * in.lanes;
    }
  }
}

// Tells the best neurons of one sample apart that a rough look at all of them leaves.
void Predictor::score_screened(Panel& panel) const {
  const BlockInput& in = panel.inputs.front();
  panel.candidates.clear();
  screen_->find(in, panel.blocks.front().rows.front(), panel.wanted.k, panel.screen, panel.candidates);
  if (panel.votes) {
    for (const PanelVotes::Vote& vote : panel.votes->of(0)) panel.candidates.push_back(vote.label);
    std::sort(panel.candidates.begin(), panel.candidates.end());
    panel.candidates.erase(std::unique(panel.candidates.begin(), panel.candidates.end()),
                           panel.candidates.end());
  }
  score_shared(panel.candidates, nullptr, panel);
}

// From the training tables: the first layer's neurons for one sparse sample.
void Predictor::query_tables(const SparseRow& row, std::size_t sample, Panel& panel) const {
  SamplerScratch& sampler = panel.scratch.layers.back().sampler;
  Rng rng(network_.config().train.seed, Purpose::kProbe, sample);
  panel.candidates.clear();
  sampler.seen.clear();
  network_.output().index()->query_sparse(row.ids, row.values, options_.candidates, rng, sampler.query,
                                          sampler.seen, panel.candidates);
}

// The neurons that the sample's own features name, beside those that the tables found.
void Predictor::add_wide_candidates(Panel& panel) const {
  panel.wide_best.clear();
  postings_->best(options_.candidates, panel.postings, panel.wide_best);
  panel.seen.clear();
  for (const std::uint32_t id : panel.candidates) panel.seen.insert(id);
  for (const std::uint32_t id : panel.wide_best) {
    if (is_always(id) || !panel.seen.insert(id)) continue;
    panel.candidates.push_back(id);
  }
}

// Puts the labels that neighbours vote for, but for those that are scored for all samples, before sample i's
// other candidates.
void Predictor::put_votes_first(std::size_t i, Panel& panel) const {
  panel.found.assign(panel.candidates.begin(), panel.candidates.end());
  panel.candidates.clear();
  panel.seen.clear();
  for (const PanelVotes::Vote& vote : panel.votes->of(i)) {
    if (is_always(vote.label)) continue;
    panel.seen.insert(vote.label);
    panel.candidates.push_back(vote.label);
  }
  for (const std::uint32_t id : panel.found) {
    if (panel.seen.insert(id)) panel.candidates.push_back(id);
  }
}

// Scores each sample's own candidates.
void Predictor::score_candidates(std::size_t first, Panel& panel) const {
  const Layer& output = network_.output();
  const std::size_t lanes = panel.lanes;
  for (std::size_t b = 0; b < panel.inputs.size(); ++b) {
    const BlockInput& in = panel.inputs[b];
    if (search_) search_->project({in.xt, in.width, in.lanes, in.samples}, panel.search);
    for (std::size_t s = 0; s < in.samples; ++s) {
      BlockInput one = in;
      one.lanes = one.samples = 1;
      if (search_) {
        search_->find(s, in.lanes, options_.candidates, panel.search, panel.candidates);
        std::copy_n(in.x + s * in.ldx, in.width, panel.query.data());
        one.xt = panel.query.data();
      } else {
        query_tables(panel.blocks[b].rows[s], first + b * lanes + s, panel);
        one.xt = in.x + s * in.ldx;
      }
      const SparseRow& row = panel.blocks[b].rows[s];
      if (postings_) {
        postings_->start(row, panel.postings);
        add_wide_candidates(panel);
        one.features = nullptr;
      }
      const std::size_t i = b * lanes + s;
      if (panel.votes) put_votes_first(i, panel);
      if (panel.z.size() < panel.candidates.size())
        panel.z = AlignedArray<float>(std::bit_ceil(panel.candidates.size()));
      output.score({&one, 1}, panel.candidates, panel.scratch.layers.back(), panel.z.data());
      if (postings_) {
        postings_->add(panel.candidates, panel.postings, panel.z.data());
        postings_->clear(row, panel.postings);
      }
      const auto votes = panel.votes ? panel.votes->of(i) : std::span<const PanelVotes::Vote>();
      for (std::size_t v = 0, c = 0; v < votes.size(); ++v) {
        if (!is_always(votes[v].label)) panel.votes->set(i, v, panel.z[c++]);
      }
      TopK& best = panel.best[i];
      for (std::size_t c = 0; c < panel.candidates.size(); ++c) {
        if (panel.log_softmax) add_log(panel.z[c], panel.log_norm[i]);
        if (panel.z[c] >= best.threshold()) best.offer(panel.candidates[c], panel.z[c]);
      }
    }
  }
}

Metrics evaluate(const Predictor& predictor, const Dataset& data, std::span<const std::uint32_t> ks,
                 Metrics::Propensities inverse_propensities, Metrics::Groups groups) {
  const std::size_t most = predictor.options().k;
  std::vector<std::uint32_t> ranked(data.size() * most);
  std::vector<std::uint32_t> counts(data.size());
  predictor.predict(data, [&](std::size_t sample, std::span<const Prediction> best) {
    counts[sample] = static_cast<std::uint32_t>(best.size());
    for (std::size_t i = 0; i < best.size(); ++i) ranked[sample * most + i] = best[i].label;
  });
  Metrics metrics({ks.begin(), ks.end()}, std::move(inverse_propensities), std::move(groups));
  for (std::size_t i = 0; i < data.size(); ++i) {
    metrics.add({ranked.data() + i * most, counts[i]}, data.labels(i));
  }
  return metrics;
}

Metrics evaluate(const TrainedNetwork& trained, const Dataset& data, const InferenceOptions& options,
                 std::span<const std::uint32_t> ks, Metrics::Propensities inverse_propensities,
                 Metrics::Groups groups) {
  InferenceOptions wanted = options;
  wanted.k = *std::max_element(ks.begin(), ks.end());
  return evaluate(Predictor(trained, wanted), data, ks, std::move(inverse_propensities), std::move(groups));
}

}  // namespace slide
