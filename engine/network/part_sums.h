// Sums of one vector per sample over the parts of a network (network_parts.h), across processes (an
// all-reduce): the pre-activations of a hidden layer whose features are divided among parts, and the gradient
// of its activations.
//
// Sums follow a fixed binary tree over the parts; each node is rounded to bfloat16. So the result does not
// depend on which process holds which parts. A process sends the largest nodes that its parts fill. Each
// process adds up a range of the samples of each block (reduce-scatter), then sends the sums to the others
// (all-gather): at most 4 * columns bytes per sample.
//
// Vectors are rows of bfloat16 pairs (kernels/bf16.h). Thread safety: different rows of partial() may be
// written, and row() read, from several threads; other functions are for one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/cluster/cluster.h"
#include "engine/network/network_parts.h"

namespace slide {

class PartSums {
 public:
  static constexpr int kChannels = 2;

  // For batches of up to `blocks` blocks of `lanes` samples, and vectors of `columns` values. `cluster`:
  // nullptr for a single process; this object owns its channels [channel, channel + kChannels).
  PartSums(const NetworkParts& parts, std::size_t blocks, std::size_t lanes, std::size_t columns,
           Cluster* cluster, int channel);
  static double bytes_of(const NetworkParts& parts, std::size_t blocks, std::size_t lanes,
                         std::size_t columns);

  // Allocates working memory for `threads` threads; start() does so where it is missing.
  void prepare(int threads);

  // Contribution of part number `part` of this process for a sample; write it before start().
  std::uint32_t* partial(std::size_t block, std::size_t part, std::size_t sample) {
    return partials_.data() + ((block * own_.count + part) * lanes_ + sample) * words_;
  }
  // Call in this order, for the first `blocks` blocks: start() sends nodes; reduce() waits for the nodes of
  // other processes, adds them up and sends sums; finish() waits for the sums of other processes. Messages
  // travel between the calls.
  void start(std::size_t blocks, int threads);
  void reduce(int threads);
  void finish();
  // The sum for a sample, after finish().
  const std::uint32_t* row(std::size_t block, std::size_t sample) const {
    return sums_.data() + sum_at(block, sample) * words_;
  }

 private:
  // A node of the tree: the sum over parts [first, end).
  struct Node {
    std::size_t first, end;
    std::size_t middle() const { return first + (end - first + 1) / 2; }
  };
  // Working memory of one thread: a row for each level of the tree.
  using Scratch = std::vector<AlignedArray<float>>;

  std::vector<Node> nodes_of(Slice parts) const;
  static void cover(Node node, Slice parts, std::vector<Node>& nodes);
  Slice samples_of(std::size_t rank) const;
  template <class Leaf>
  void add_up(Node node, const Leaf& leaf, Scratch& scratch, std::size_t level) const;
  template <class Leaf>
  void put_sum(Node node, const Leaf& leaf, Scratch& scratch, std::uint32_t* sum) const;
  void fill_node(std::size_t block, std::size_t node, std::size_t rank, Scratch& scratch);
  const std::uint32_t* received_row(Node node, std::size_t block, std::size_t sample) const;
  void fill_sum(std::size_t block, std::size_t sample, Scratch& scratch);
  std::span<std::byte> bytes(AlignedArray<std::uint32_t>& rows, std::size_t first, std::size_t count) const;
  std::size_t sum_at(std::size_t block, std::size_t sample) const {
    const Slice some = adds_up_[sample];
    return blocks_ * some.first + block * some.count + (sample - some.first);
  }
  void send_nodes();
  void send_sums();

  std::size_t parts_, lanes_, columns_, words_;
  Slice own_;
  Cluster* cluster_;
  int channel_;
  std::size_t rank_ = 0;
  std::size_t blocks_ = 0;                // of the batch
  std::vector<Slice> adds_up_;            // by sample: the samples that the same process adds up
  std::vector<Slice> held_;               // by rank: its parts
  std::vector<std::vector<Node>> nodes_;  // by rank: the nodes that it sends
  std::vector<std::size_t> received_at_;  // by rank: rows of a block in received_ before its own
  std::size_t received_rows_ = 0;         // rows of a block in received_
  // Rows of words_ words:
  AlignedArray<std::uint32_t> partials_;  // [block][own part][lane]
  AlignedArray<std::uint32_t> sent_;      // [rank][block][own node][sample of the rank]
  AlignedArray<std::uint32_t> received_;  // [rank][block][node of the rank][own sample]
  AlignedArray<std::uint32_t> sums_;      // [rank][block][sample of the rank]
  std::vector<std::span<const std::byte>> out_;
  std::vector<std::span<std::byte>> in_;
  std::vector<Scratch> scratch_;  // by thread
};

}  // namespace slide
