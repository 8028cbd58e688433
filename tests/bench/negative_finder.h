// Finds negatives for blocks of samples: those that score highest, or what is found in their place. For
// found_negatives.cpp, where the sources are described. One thread.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/network/network.h"
#include "lsh/neuron_index.h"

namespace slide::found {

using Ids = std::vector<std::uint32_t>;

constexpr std::size_t kLanes = 64;        // queries that are scored together
constexpr std::size_t kRows = 64;         // neurons likewise
constexpr std::size_t kCandidates = 512;  // of a search index, for a sample

// How many negatives of which source for a block of so many samples.
struct Wanted {
  std::string source = "none";
  std::size_t count = 0, block = 63;
};

inline std::size_t lanes_of(std::size_t samples) {
  return round_up(samples, 16);
}

// The best neurons of each of some lanes, of those that were offered.
class BestOfLanes {
 public:
  explicit BestOfLanes(std::size_t depth) : depth_(depth), least_(kLanes), kept_(kLanes) {}

  void clear(std::size_t lanes) {
    lanes_ = lanes;
    std::fill(least_.begin(), least_.end(), -std::numeric_limits<float>::infinity());
    for (auto& kept : kept_) kept.clear();
  }
  // z: one value a lane.
  void offer(std::uint32_t id, const float* z) {
    int above = 0;
    for (std::size_t lane = 0; lane < lanes_; ++lane) above += z[lane] > least_[lane] ? 1 : 0;
    if (above == 0) return;
    for (std::size_t lane = 0; lane < lanes_; ++lane) offer(id, z[lane], lane);
  }
  void offer(std::uint32_t id, float z, std::size_t lane) {
    if (!(z > least_[lane])) return;
    kept_[lane].push_back({z, id});
    if (kept_[lane].size() >= 2 * depth_) cut(lane);
  }
  // Best first.
  Ids best(std::size_t lane) {
    cut(lane);
    std::sort(kept_[lane].begin(), kept_[lane].end(), before);
    Ids ids;
    for (const Scored& one : kept_[lane]) ids.push_back(one.id);
    return ids;
  }

 private:
  struct Scored {
    float z;
    std::uint32_t id;
  };
  static bool before(const Scored& a, const Scored& b) { return a.z != b.z ? a.z > b.z : a.id < b.id; }
  void cut(std::size_t lane) {
    std::vector<Scored>& kept = kept_[lane];
    if (kept.size() <= depth_) return;
    const auto last = kept.begin() + static_cast<std::ptrdiff_t>(depth_ - 1);
    std::nth_element(kept.begin(), last, kept.end(), before);
    least_[lane] = last->z;
    kept.resize(depth_);
  }

  std::size_t depth_, lanes_ = 0;
  std::vector<float> least_;
  std::vector<std::vector<Scored>> kept_;
};

// Rows of the output layer as a block of vectors.
class LabelRows {
 public:
  LabelRows(const Layer& layer, std::span<const std::uint32_t> ids)
      : lanes_(lanes_of(std::max<std::size_t>(ids.size(), 1))),
        samples_(ids.size()),
        inputs_(layer.inputs()),
        xt_(inputs_ * lanes_) {
    std::vector<float> row(inputs_);
    for (std::size_t lane = 0; lane < ids.size(); ++lane) {
      layer.weights().load_row(ids[lane], row.data());
      for (std::size_t k = 0; k < inputs_; ++k) xt_[k * lanes_ + lane] = row[k];
    }
  }
  lsh::QueryBlock query() const { return {xt_.data(), inputs_, lanes_, samples_}; }
  BlockInput input() const {
    BlockInput in;
    in.width = inputs_;
    in.xt = xt_.data();
    in.lanes = lanes_;
    in.samples = samples_;
    return in;
  }

 private:
  std::size_t lanes_, samples_, inputs_;
  AlignedArray<float> xt_;
};

// The samples of one block.
struct Samples {
  std::vector<SparseRow> rows;
  Ids labels;  // of all, distinct
};

// Finds negatives for the blocks of a step.
class Finder {
 public:
  Finder(const Network& network, const Wanted& wanted, std::size_t entries)
      : network_(network),
        wanted_(wanted),
        layer_(network.output()),
        block_(network.make_inference_block(kLanes, entries)),
        scratch_(network.make_inference_scratch(kLanes, entries)),
        depth_(std::min(layer_.size(), wanted.count + 64)),
        best_(depth_),
        z_(kRows * kLanes),
        seen_(layer_.size()) {}

  // The weights have changed much.
  void follow_weights() {
    if (wanted_.source == "search") {
      search_ = lsh::NeuronIndex::fixed(layer_.weight_rows(), layer_.size(), layer_.inputs(), 1, 1);
      search_scratch_ = search_->make_scratch(kLanes);
    }
    if (wanted_.source != "table-labels") return;
    if (!tables_) tables_.emplace(layer_.config().hash, layer_.size(), layer_.inputs(), 1);
    tables_->rebuild(layer_.weight_rows(), 1, 1);
  }

  // Leaves those of block b in found[b].
  void find(std::span<const Samples> blocks, std::uint64_t step, std::vector<Ids>& found) {
    if (wanted_.source == "table-labels") {
      for (std::size_t b = 0; b < blocks.size(); ++b)
        ask_tables(blocks[b], Rng(1, Purpose::kTest, step, b), found[b]);
      return;
    }
    const bool labels = wanted_.source == "exact-labels";
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      if (labels) {
        lists_.clear();
        for (std::size_t i = 0; i < blocks[b].labels.size(); i += kLanes)
          score_labels(std::span(blocks[b].labels).subspan(i, std::min(kLanes, blocks[b].labels.size() - i)));
        take(lists_, blocks[b].labels, found[b]);
      }
    }
    if (labels) return;
    // Samples of all blocks, many together.
    lists_.clear();
    block_.clear_samples();
    for (const Samples& samples : blocks) {
      for (const SparseRow& row : samples.rows) {
        network_.add_crossed(row, block_);
        if (block_.samples() == kLanes) score_samples();
      }
    }
    if (block_.samples() > 0) score_samples();
    std::size_t first = 0;
    for (std::size_t b = 0; b < blocks.size(); first += blocks[b++].rows.size())
      take(std::span(lists_).subspan(first, blocks[b].rows.size()), blocks[b].labels, found[b]);
  }

 private:
  // The first of each list, the second of each, and so on, without `labels`.
  void take(std::span<const Ids> lists, std::span<const std::uint32_t> labels, Ids& out) {
    out.clear();
    seen_.clear();
    for (const std::uint32_t label : labels) seen_.insert(label);
    for (std::size_t place = 0; place < depth_; ++place) {
      for (const Ids& list : lists) {
        if (out.size() == wanted_.count) return;
        if (place < list.size() && seen_.insert(list[place])) out.push_back(list[place]);
      }
    }
  }

  void score_all(const BlockInput& in) {
    for (std::size_t row = 0; row < layer_.size(); row += kRows) {
      const auto some = layer_.all_neurons().subspan(row, std::min(kRows, layer_.size() - row));
      score(in, some);
    }
  }
  void score(const BlockInput& in, std::span<const std::uint32_t> ids) {
    layer_.score({&in, 1}, ids, scratch_.layers.back(), z_.data());
    for (std::size_t i = 0; i < ids.size(); ++i) best_.offer(ids[i], z_.data() + i * in.lanes);
  }
  void keep_best(std::size_t samples) {
    for (std::size_t lane = 0; lane < samples; ++lane) lists_.push_back(best_.best(lane));
  }

  void score_samples() {
    const BlockInput in = network_.infer_hidden(block_, scratch_);
    best_.clear(in.samples);
    if (search_) {
      score_found(in);
    } else {
      score_all(in);
    }
    keep_best(in.samples);
    block_.clear_samples();
  }

  void score_labels(std::span<const std::uint32_t> ids) {
    const LabelRows rows(layer_, ids);
    best_.clear(ids.size());
    score_all(rows.input());
    keep_best(ids.size());
  }

  // What the index has for every sample, and for each its own.
  void score_found(const BlockInput& in) {
    const auto always = search_->longest();
    for (std::size_t i = 0; i < always.size(); i += kRows)
      score(in, always.subspan(i, std::min(kRows, always.size() - i)));
    search_->project({in.xt, in.width, in.lanes, in.samples}, search_scratch_);
    AlignedArray<float> x(layer_.inputs()), z(kCandidates);
    Ids ids;
    for (std::size_t s = 0; s < in.samples; ++s) {
      search_->find(s, in.lanes, kCandidates, search_scratch_, ids);
      BlockInput one = in;
      one.lanes = one.samples = 1;
      std::copy_n(in.x + s * in.ldx, in.width, x.data());
      one.xt = x.data();
      one.features = nullptr;
      layer_.score({&one, 1}, ids, scratch_.layers.back(), z.data());
      for (std::size_t i = 0; i < ids.size(); ++i) best_.offer(ids[i], z[i], s);
    }
  }

  void ask_tables(const Samples& samples, Rng rng, Ids& out) {
    out.clear();
    seen_.clear();
    for (const std::uint32_t label : samples.labels) seen_.insert(label);
    const LabelRows rows(layer_, samples.labels);
    tables_->query(rows.query(), wanted_.count, rng, query_, seen_, out);
  }

  const Network& network_;
  const Wanted& wanted_;
  const Layer& layer_;
  Block block_;
  ThreadScratch scratch_;
  std::size_t depth_;
  BestOfLanes best_;
  AlignedArray<float> z_;
  lsh::IdSet seen_;
  std::vector<Ids> lists_;  // of the queries, best first
  std::optional<lsh::NeuronIndex> search_;
  lsh::QueryScratch search_scratch_;
  std::optional<lsh::NeuronIndex> tables_;
  lsh::QueryScratch query_;
};

}  // namespace slide::found
