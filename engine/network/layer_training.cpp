#include "engine/network/layer_training.h"

#include <algorithm>

#include "engine/kernels/kernels.h"

namespace slide {

namespace {

// A core drops prefetches beyond its line fill buffers: prefetch a few rows, shortly before use.
constexpr std::size_t kStateAhead = 8;     // rows ahead, for the optimizer state
constexpr std::size_t kTermAhead = 3;      // rows ahead, for the term
constexpr std::size_t kRowsTogether = 32;  // rows per kernel call, which share the loads of a block's input
constexpr std::size_t kDenseRun = 16;      // rows of a dense layer whose biases share a cache line

using Sources = std::span<const std::uint32_t>;

// The update of one shard's rows of a layer.
class ShardUpdate {
 public:
  ShardUpdate(const TrainedLayer& trained, const LayerBatch& batch, const DeltaPlaces& places,
              const Optimizer& optimizer, UpdateScratch& scratch)
      : weights_{trained.layer.weights(), trained.weights},
        bias_{trained.layer.bias(), trained.bias},
        term_(trained.layer.term()),
        term_sums_(trained.term_sums),
        batch_(batch),
        places_(places),
        optimizer_(optimizer),
        scratch_(scratch) {}

  // Whether the input of every block is all units of the layer below.
  bool whole() const { return !batch_.inputs.front().partial; }

  // Prefetches weights and biases.
  void prefetch_rows(std::span<const std::uint32_t> rows) const {
    for (const std::uint32_t row : rows) {
      weights_.values.prefetch_row(row);
      bias_.values.prefetch_row(row);
    }
  }

  template <class SourcesOf>
  void update_rows(std::span<const std::uint32_t> rows, SourcesOf&& sources_of);
  void update_columns(std::uint32_t row, Sources sources);

 private:
  template <class SourcesOf>
  void sum_gradients(std::size_t rows, SourcesOf&& sources_of);
  template <class SourcesOf>
  void sum_sparse_gradients(std::size_t rows, SourcesOf&& sources_of);
  void gather_parts();
  void update_term(std::uint32_t row, std::uint32_t source);
  void prefetch_term(std::uint32_t row) const;
  void prefetch_state(std::uint32_t row) const {
    weights_.state.prefetch_row(row);
    bias_.state.prefetch_row(row);
  }
  const float* delta(DeltaPlace at) const {
    return batch_.deltas[at.block] + at.active * batch_.inputs[at.block].lanes;
  }

  TrainedMatrix weights_, bias_;
  OutputTerm* term_;
  std::span<float> term_sums_;
  const LayerBatch& batch_;
  const DeltaPlaces& places_;
  const Optimizer& optimizer_;
  UpdateScratch& scratch_;
};

// Updates one row of a layer above a sampled layer: each block has other active inputs, so each is an update
// of its own, of the columns of these inputs. No effect without sources.
void ShardUpdate::update_columns(std::uint32_t row, Sources sources) {
  if (sources.empty()) return;
  const auto& k = kernels::active();
  float* g = scratch_.gradient.data();
  float bias_gradient = 0.0f;
  for (const std::uint32_t source : sources) {
    const DeltaPlace at = places_.of(source);
    const BlockInput& in = batch_.inputs[at.block];
    const float* d = delta(at);
    bias_gradient += k.sum(d, in.samples);
    if (term_ != nullptr) update_term(row, source);
    if (in.width == 0) continue;
    std::fill_n(g, in.width, 0.0f);
    k.rows_gradient(&d, 1, in.samples, in.x, in.ldx, in.width, &g);
    optimizer_.update_columns(weights_, row, in.columns, g, scratch_.packed);
  }
  optimizer_.update(bias_, row, &bias_gradient, false, scratch_.packed);
}

void ShardUpdate::prefetch_term(std::uint32_t row) const {
  if (term_ != nullptr) term_->prefetch(row, term_sums_.data());
}

// Updates the term's weights of a row from one block, by the matches that the forward pass kept.
void ShardUpdate::update_term(std::uint32_t row, std::uint32_t source) {
  const DeltaPlace at = places_.of(source);
  const BlockInput& in = batch_.inputs[at.block];
  const LayerBlock& block = *batch_.blocks[at.block];
  const Sources listed = block.sparse.in_use() ? block.sparse.samples_of(at.active) : Sources();
  const OutputTerm::BlockMatch match{*in.features, block.hits[at.active / kSliceNeurons],
                                     at.active % kSliceNeurons, in.lanes};
  const OutputTerm::Step step{optimizer_.progress(), static_cast<float>(batch_.samples)};
  term_->update(row, match, {delta(at), listed}, step, term_sums_, scratch_.term_gradients);
}

// Adds to scratch.gradient [rows x stride] and bias_gradient [rows] the contributions of the blocks in
// sources_of(i), in ascending order. One kernel call per block: its rows share the loads of its input.
template <class SourcesOf>
void ShardUpdate::sum_gradients(std::size_t rows, SourcesOf&& sources_of) {
  const auto& k = kernels::active();
  scratch_.parts.clear();
  std::fill_n(scratch_.ends.begin(), batch_.inputs.size() + 1, 0u);
  for (std::size_t i = 0; i < rows; ++i) {
    for (const std::uint32_t source : sources_of(i)) {
      const DeltaPlace at = places_.of(source);
      const float* d = delta(at);
      scratch_.bias_gradient[i] += k.sum(d, batch_.inputs[at.block].samples);
      scratch_.parts.push_back({d, at.block, static_cast<std::uint32_t>(i)});
      ++scratch_.ends[at.block + 1];
    }
  }
  gather_parts();
  for (std::size_t b = 0, begin = 0; b < batch_.inputs.size(); begin = scratch_.ends[b++]) {
    const std::size_t count = scratch_.ends[b] - begin;
    if (count == 0) continue;
    const BlockInput& in = batch_.inputs[b];
    k.rows_gradient(scratch_.deltas.data() + begin, count, in.samples, in.x, in.ldx, in.width,
                    scratch_.gradients.data() + begin);
  }
}

// Counting sort of scratch.parts by block, into scratch.deltas and gradients. On entry ends[b + 1] is the
// size of block b; on return ends[b] is the end of block b.
void ShardUpdate::gather_parts() {
  for (std::size_t b = 0; b < batch_.inputs.size(); ++b) scratch_.ends[b + 1] += scratch_.ends[b];
  for (const UpdateScratch::Part& part : scratch_.parts) {
    const std::uint32_t at = scratch_.ends[part.block]++;
    scratch_.deltas[at] = part.delta;
    scratch_.gradients[at] = scratch_.gradient.data() + part.row * scratch_.stride;
  }
}

// sum_gradients() from sparse deltas.
template <class SourcesOf>
void ShardUpdate::sum_sparse_gradients(std::size_t rows, SourcesOf&& sources_of) {
  const auto& k = kernels::active();
  for (std::size_t i = 0; i < rows; ++i) {
    for (const std::uint32_t source : sources_of(i)) {
      const DeltaPlace at = places_.of(source);
      const BlockInput& in = batch_.inputs[at.block];
      const SparseDeltas& deltas = batch_.blocks[at.block]->sparse;
      const Sources samples = deltas.samples_of(at.active);
      const float* values = deltas.values_of(at.active);
      scratch_.bias_gradient[i] += k.sum(values, samples.size());
      k.gather_rows(in.x, in.ldx, samples.data(), values, samples.size(), in.width,
                    scratch_.gradient.data() + i * scratch_.stride);
    }
  }
}

// Updates up to kRowsTogether whole rows from the blocks in sources_of(i). A row without sources stays as it
// is.
template <class SourcesOf>
void ShardUpdate::update_rows(std::span<const std::uint32_t> rows, SourcesOf&& sources_of) {
  for (const std::uint32_t row : rows.first(std::min(rows.size(), kStateAhead))) prefetch_state(row);
  for (const std::uint32_t row : rows.first(std::min(rows.size(), kTermAhead))) prefetch_term(row);
  std::fill_n(scratch_.gradient.data(), rows.size() * scratch_.stride, 0.0f);
  std::fill_n(scratch_.bias_gradient.data(), rows.size(), 0.0f);
  if (batch_.blocks.front()->sparse.in_use()) {
    sum_sparse_gradients(rows.size(), sources_of);
  } else {
    sum_gradients(rows.size(), sources_of);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + kStateAhead < rows.size()) prefetch_state(rows[i + kStateAhead]);
    if (i + kTermAhead < rows.size()) prefetch_term(rows[i + kTermAhead]);
    const Sources sources = sources_of(i);
    if (sources.empty()) continue;
    for (const std::uint32_t source : sources) {
      if (term_ != nullptr) update_term(rows[i], source);
    }
    optimizer_.update(weights_, rows[i], scratch_.gradient.data() + i * scratch_.stride, true,
                      scratch_.packed);
    optimizer_.update(bias_, rows[i], &scratch_.bias_gradient[i], false, scratch_.packed);
  }
}

// Updates the touched rows of a shard of a sampled layer.
void update_listed(const RowGroups& groups, ShardUpdate& update) {
  const auto rows_at = [&](std::size_t first) {
    return groups.rows().subspan(first, std::min(kRowsTogether, groups.size() - first));
  };
  if (groups.size() > 0) update.prefetch_rows(rows_at(0));
  for (std::size_t first = 0; first < groups.size(); first += kRowsTogether) {
    const auto rows = rows_at(first);
    if (first + kRowsTogether < groups.size()) update.prefetch_rows(rows_at(first + kRowsTogether));
    if (update.whole()) {
      update.update_rows(rows, [&](std::size_t i) { return groups.sources(first + i); });
      continue;
    }
    for (std::size_t i = 0; i < rows.size(); ++i) update.update_columns(rows[i], groups.sources(first + i));
  }
}

// Updates a shard's range of rows of a dense layer; each has a delta in every block of its part.
void update_dense(std::span<const std::uint32_t> rows, const LayerBatch& batch, const DeltaPlaces& places,
                  std::vector<std::uint32_t>& sources, ShardUpdate& update) {
  const auto sources_of = [&](std::uint32_t row) -> Sources {
    sources.clear();
    for (std::size_t b = 0; b < batch.inputs.size(); ++b) {
      const LayerBlock& block = *batch.blocks[b];
      if (row < block.first || row >= block.first + block.count) continue;  // of another part
      const std::size_t place = row - block.first;
      if (!block.sparse.is_zero(place)) sources.push_back(places.source(b, place));
    }
    return sources;
  };
  for (std::size_t first = 0; first < rows.size(); first += kRowsTogether) {
    const auto some = rows.subspan(first, std::min(kRowsTogether, rows.size() - first));
    if (update.whole()) {
      update.update_rows(some, [&](std::size_t i) { return sources_of(some[i]); });
      continue;
    }
    for (const std::uint32_t row : some) update.update_columns(row, sources_of(row));
  }
}

}  // namespace

LayerTraining::LayerTraining(const Layer& layer, const BlockLimits& limits, std::size_t blocks,
                             std::uint32_t shards)
    : active_limit_(layer.active_limit(limits)),
      columns_limit_(limits.columns),
      blocks_(blocks),
      shards_(shards),
      places_(blocks, active_limit_),
      slots_(layer.sampled() ? layer.size() : 0) {
  if (layer.index() == nullptr) return;
  stale_rows_.resize(layer.parts());
  for (std::size_t p = 0; p < layer.parts(); ++p) stale_rows_[p].prepare(layer.neurons(p).count, shards);
}

// For updates of kRowsTogether rows at a time, each with a delta in every block at most.
UpdateScratch LayerTraining::make_scratch(const Layer& layer) const {
  UpdateScratch scratch;
  scratch.stride = kernels::spread_stride(layer.inputs());
  scratch.gradient = AlignedArray<float>(kRowsTogether * scratch.stride);
  scratch.bias_gradient.resize(kRowsTogether);
  scratch.parts.reserve(kRowsTogether * blocks_);
  scratch.ends.resize(blocks_ + 1);
  scratch.deltas.resize(kRowsTogether * blocks_);
  scratch.gradients.resize(kRowsTogether * blocks_);
  scratch.sources.reserve(blocks_);
  scratch.listed.reserve(blocks_);
  const std::size_t unpacked = layer.weights().is_bf16() ? layer.inputs() : 0;  // widened rows
  scratch.packed.reserve(columns_limit_ > 0 ? columns_limit_ : unpacked);
  return scratch;
}

double LayerTraining::bytes_of(const LayerShape& shape, std::uint32_t shards) {
  return (shape.sampled() ? double(shape.neurons) * sizeof(std::uint64_t) : 0.0) +
         (shape.has_tables() ? double(StaleRows::bytes_of(shape.neurons, shards)) : 0.0);
}

double LayerTraining::scratch_bytes_of(const LayerShape& shape, const BlockLimits& limits,
                                       std::size_t blocks) {
  const bool bf16 = shape.precision == Precision::kBf16;
  const std::size_t columns = limits.columns > 0 ? limits.columns : bf16 ? shape.inputs : 0;
  const double each = sizeof(UpdateScratch::Part) + sizeof(float*) + sizeof(const float*);
  return double(kRowsTogether * kernels::spread_stride(shape.inputs)) * sizeof(float) +
         double(kRowsTogether * blocks) * each + double(PackedRow::bytes_of(columns));
}

void LayerTraining::list_touched(std::size_t block_index, LayerBlock& block) const {
  if (slots_.empty()) return;  // a dense layer: all rows count as touched
  block.bins.fill([&](auto&& visit) {
    for (std::size_t a = 0; a < block.count; ++a) {
      if (!block.sparse.is_zero(a)) visit(block.set.ids[a], places_.source(block_index, a));
    }
  });
}

// A dense layer has a range of rows for each shard, in units of kDenseRun rows. A sampled layer groups the
// touched rows of the shard, updates them, and queues them for the rehash.
void LayerTraining::update(const TrainedLayer& trained, const LayerBatch& batch, std::uint32_t shard,
                           const Optimizer& optimizer, RowGroups& groups, UpdateScratch& scratch) {
  ShardUpdate update(trained, batch, places_, optimizer, scratch);
  const Layer& layer = trained.layer;
  if (!layer.sampled()) {
    const std::size_t runs = slices_of(layer.size(), kDenseRun);
    const std::size_t begin = std::min(layer.size(), runs * shard / shards_ * kDenseRun);
    const std::size_t end = std::min(layer.size(), runs * (shard + 1) / shards_ * kDenseRun);
    update_dense(layer.all_neurons().subspan(begin, end - begin), batch, places_, scratch.sources, update);
    return;
  }
  scratch.listed.clear();
  for (const LayerBlock* block : batch.blocks) scratch.listed.push_back(block->bins.shard(shard));
  groups.build(scratch.listed, slots_.data(), batch.stamp);
  update_listed(groups, update);
  if (layer.index() == nullptr) return;
  for (const std::uint32_t row : groups.rows()) {
    std::size_t part = 0;
    while (row >= layer.neurons(part).end()) ++part;
    stale_rows_[part].add(row - static_cast<std::uint32_t>(layer.neurons(part).first), shard);
  }
}

void LayerTraining::rehash(Layer& layer, int threads) {
  for (std::size_t p = 0; p < stale_rows_.size(); ++p) {
    const double share = layer.index(p)->all_zero() ? 1.0 : layer.config().hash.rehash_share;
    layer.rehash(p, stale_rows_[p].take(share), threads);
  }
}

void LayerTraining::rebuild_index(Layer& layer, std::uint64_t seed, std::uint64_t generation, int threads) {
  layer.rebuild_index(seed, generation, threads);
  for (StaleRows& rows : stale_rows_) rows.clear();
}

// The tables of each part, then its queue; in a network of several parts, each with its length in bytes.
void LayerTraining::save_tables(const Layer& layer, ByteWriter& out) const {
  const auto save = [&](std::size_t part, ByteWriter& to) {
    layer.index(part)->save(to);
    stale_rows_[part].save(to);
  };
  if (!layer.split()) return save(0, out);
  ByteString all;
  for (std::size_t part = 0; part < layer.parts(); ++part) {
    ByteString one;
    save(part, one);
    all.put_array(one.bytes().data(), one.bytes().size());
  }
  out.put_share(all.bytes());
}

// Skips the parts of other processes by their length.
void LayerTraining::load_tables(ByteReader& in, Layer& layer) {
  const auto load = [&](std::size_t part) {
    layer.index(part)->load(in);
    stale_rows_[part].load(in);
  };
  if (!layer.split()) return load(0);
  const std::uint32_t first = layer.shape().parts.front().number, all = layer.shape().parts.front().of;
  for (std::uint32_t number = 0; number < all; ++number) {
    const auto length = in.get_count(1, "tables beyond its length");
    if (number < first || number - first >= layer.parts()) {
      in.skip(length);
      continue;
    }
    const std::uint64_t left = in.left();
    load(number - first);
    if (left - in.left() != length) in.refuse("tables of another length");
  }
}

}  // namespace slide
