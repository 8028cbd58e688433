#include "engine/network/part_sums.h"

#include <bit>

#include "engine/base/parallel.h"
#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"

namespace slide {

PartSums::PartSums(const NetworkParts& parts, std::size_t blocks, std::size_t lanes, std::size_t columns,
                   Cluster* cluster, int channel)
    : parts_(parts.count()),
      lanes_(lanes),
      columns_(columns),
      words_(round_up(columns, kernels::kPairGroup) / 2),
      own_(parts.own),
      cluster_(cluster != nullptr && cluster->size() > 1 ? cluster : nullptr),
      channel_(channel),
      partials_(blocks * own_.count * lanes * words_),
      sums_(blocks * lanes * words_) {
  const std::size_t ranks = cluster_ == nullptr ? 1 : static_cast<std::size_t>(cluster_->size());
  rank_ = cluster_ == nullptr ? 0 : static_cast<std::size_t>(cluster_->rank());
  for (std::size_t r = 0; r < ranks; ++r) {
    held_.push_back(parts_of_rank(parts_, r, ranks));
    nodes_.push_back(nodes_of(held_.back()));
    received_at_.push_back(received_rows_);
    received_rows_ += nodes_.back().size() * samples_of(rank_).count;
    adds_up_.insert(adds_up_.end(), samples_of(r).count, samples_of(r));
  }
  if (cluster_ == nullptr) return;
  sent_ = AlignedArray<std::uint32_t>(blocks * nodes_[rank_].size() * lanes * words_);
  received_ = AlignedArray<std::uint32_t>(blocks * received_rows_ * words_);
  out_.resize(ranks);
  in_.resize(ranks);
}

double PartSums::bytes_of(const NetworkParts& parts, std::size_t blocks, std::size_t lanes,
                          std::size_t columns) {
  const std::size_t row = round_up(columns, kernels::kPairGroup) / 2 * sizeof(std::uint32_t);
  return double(blocks * lanes) * double(row) * double(parts.own.count + 1 + 2);
}

// Returns the fewest nodes of the tree that together cover `parts`.
std::vector<PartSums::Node> PartSums::nodes_of(Slice parts) const {
  std::vector<Node> nodes;
  cover({0, parts_}, parts, nodes);
  return nodes;
}

void PartSums::cover(Node node, Slice parts, std::vector<Node>& nodes) {
  if (node.end <= parts.first || node.first >= parts.end()) return;
  if (node.first >= parts.first && node.end <= parts.end()) {
    nodes.push_back(node);
    return;
  }
  cover({node.first, node.middle()}, parts, nodes);
  cover({node.middle(), node.end}, parts, nodes);
}

// Returns the samples of a block that a process adds up.
Slice PartSums::samples_of(std::size_t rank) const {
  const std::size_t ranks = cluster_ == nullptr ? 1 : static_cast<std::size_t>(cluster_->size());
  const std::size_t first = lanes_ * rank / ranks;
  return {first, lanes_ * (rank + 1) / ranks - first};
}

// scratch[level] = the sum of a node, rounded to bfloat16. leaf(node): its row if known already, else
// nullptr.
template <class Leaf>
void PartSums::add_up(Node node, const Leaf& leaf, Scratch& scratch, std::size_t level) const {
  if (const std::uint32_t* row = leaf(node)) {
    kernels::active().widen(row, columns_, scratch[level].data());
    return;
  }
  add_up({node.first, node.middle()}, leaf, scratch, level);
  add_up({node.middle(), node.end}, leaf, scratch, level + 1);
  float* sum = scratch[level].data();
  const float* other = scratch[level + 1].data();
  for (std::size_t c = 0; c < columns_; ++c) sum[c] = kernels::nearest_bf16(sum[c] + other[c]);
}

template <class Leaf>
void PartSums::put_sum(Node node, const Leaf& leaf, Scratch& scratch, std::uint32_t* sum) const {
  add_up(node, leaf, scratch, 0);
  kernels::active().narrow_nearest(scratch[0].data(), columns_, sum);
}

// Writes to sent_ the rows of a node for the samples that process `rank` adds up.
void PartSums::fill_node(std::size_t block, std::size_t node, std::size_t rank, Scratch& scratch) {
  const std::size_t own_nodes = nodes_[rank_].size();
  const Slice samples = samples_of(rank);
  // sent_ is [rank][block][own node][sample of the rank]
  const std::size_t first = blocks_ * own_nodes * samples.first + (block * own_nodes + node) * samples.count;
  std::uint32_t* to = sent_.data() + first * words_;
  for (std::size_t s = samples.first; s < samples.end(); ++s, to += words_) {
    const auto leaf = [&](Node at) -> const std::uint32_t* {
      return at.end - at.first == 1 ? partial(block, at.first - own_.first, s) : nullptr;
    };
    put_sum(nodes_[rank_][node], leaf, scratch, to);
  }
}

// The row of a node that another process sent for a sample; nullptr where none sent this node.
const std::uint32_t* PartSums::received_row(Node node, std::size_t block, std::size_t sample) const {
  const Slice mine = samples_of(rank_);
  for (std::size_t r = 0; r < nodes_.size(); ++r) {
    for (std::size_t n = 0; n < nodes_[r].size(); ++n) {
      if (nodes_[r][n].first != node.first || nodes_[r][n].end != node.end) continue;
      // received_ is [rank][block][node of the rank][own sample]
      const std::size_t first = blocks_ * received_at_[r] + (block * nodes_[r].size() + n) * mine.count;
      return received_.data() + (first + sample - mine.first) * words_;
    }
  }
  return nullptr;
}

// Writes to sums_ the sum over all parts for a sample that this process adds up. Leaves of the tree are own
// partial sums and received nodes.
void PartSums::fill_sum(std::size_t block, std::size_t sample, Scratch& scratch) {
  const auto leaf = [&](Node at) -> const std::uint32_t* {
    if (at.first < own_.first || at.end > own_.end()) return received_row(at, block, sample);
    return at.end - at.first == 1 ? partial(block, at.first - own_.first, sample) : nullptr;
  };
  put_sum({0, parts_}, leaf, scratch, sums_.data() + sum_at(block, sample) * words_);
}

std::span<std::byte> PartSums::bytes(AlignedArray<std::uint32_t>& rows, std::size_t first,
                                     std::size_t count) const {
  return std::as_writable_bytes(rows.span().subspan(first * words_, count * words_));
}

// Starts sending the nodes of all blocks to the processes that add them up.
void PartSums::send_nodes() {
  const std::size_t mine = samples_of(rank_).count, own_nodes = nodes_[rank_].size();
  for (std::size_t r = 0; r < nodes_.size(); ++r) {
    out_[r] = {};
    in_[r] = {};
    if (r == rank_) continue;
    const Slice samples = samples_of(r);
    out_[r] = bytes(sent_, blocks_ * own_nodes * samples.first, blocks_ * own_nodes * samples.count);
    in_[r] = bytes(received_, blocks_ * received_at_[r], blocks_ * mine * nodes_[r].size());
  }
  cluster_->start(channel_, out_, in_);
}

// Starts sending the sums of all blocks to all processes.
void PartSums::send_sums() {
  const Slice mine = samples_of(rank_);
  for (std::size_t r = 0; r < nodes_.size(); ++r) {
    const Slice samples = samples_of(r);
    out_[r] = {};
    in_[r] = {};
    if (r == rank_) continue;
    out_[r] = bytes(sums_, blocks_ * mine.first, blocks_ * mine.count);
    in_[r] = bytes(sums_, blocks_ * samples.first, blocks_ * samples.count);
  }
  cluster_->start(channel_ + 1, out_, in_);
}

void PartSums::prepare(int threads) {
  const auto levels = static_cast<std::size_t>(std::bit_width(parts_ - 1)) + 1;
  while (scratch_.size() < static_cast<std::size_t>(threads)) {
    Scratch& rows = scratch_.emplace_back();
    for (std::size_t level = 0; level < levels; ++level) rows.emplace_back(columns_);
  }
}

// Computes the nodes that this process sends, for each other process and its samples.
void PartSums::start(std::size_t blocks, int threads) {
  prepare(threads);
  blocks_ = blocks;
  if (cluster_ == nullptr) return;
  const std::size_t own_nodes = nodes_[rank_].size(), ranks = nodes_.size();
  parallel_for(blocks * own_nodes * ranks, threads, [&](std::size_t task, int thread) {
    const std::size_t rank = task % ranks, node = task / ranks % own_nodes;
    if (rank == rank_) return;
    fill_node(task / ranks / own_nodes, node, rank, scratch_[static_cast<std::size_t>(thread)]);
  });
  send_nodes();
}

// Adds up the sums of the samples that this process is in charge of, then sends them.
void PartSums::reduce(int threads) {
  const Slice mine = samples_of(rank_);
  if (cluster_ != nullptr) cluster_->wait(channel_);
  const std::size_t slices = slices_of(mine.count, kSliceSamples);
  parallel_for(blocks_ * slices, threads, [&](std::size_t task, int thread) {
    const Slice some = slice_of(task % slices, mine.count, kSliceSamples);
    for (std::size_t s = mine.first + some.first; s < mine.first + some.end(); ++s)
      fill_sum(task / slices, s, scratch_[static_cast<std::size_t>(thread)]);
  });
  if (cluster_ != nullptr) send_sums();
}

void PartSums::finish() {
  if (cluster_ != nullptr) cluster_->wait(channel_ + 1);
}

}  // namespace slide
