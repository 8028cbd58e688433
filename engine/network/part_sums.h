// Sums over the parts of a network (network_parts.h) of a vector for each sample, where processes hold some
// parts each: the input of a hidden layer whose features are split, and on the way back the gradient of its
// output.
//
// The sum is a tree over the parts, halved again and again, and every node of it is rounded to bfloat16: so
// the result does not depend on which process adds what, and one node is sent for all parts below it. Each
// process adds up some samples of each block, of which it gets the nodes of the others, and sends them the
// sums: of a sample 2 * columns * 2 bytes, less its own share.
//
// Vectors are rows of bfloat16 pairs (kernels/bf16.h). The calls are one thread's, but for partial(), which
// may be written, and row(), which may be read, from many.
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

  // Of batches of up to `blocks` blocks of `lanes` samples, with `columns` columns each. `channel`: the first
  // of kChannels channels of `cluster`, which are this object's own; nullptr where there is one process.
  PartSums(const NetworkParts& parts, std::size_t blocks, std::size_t lanes, std::size_t columns,
           Cluster* cluster, int channel);
  static double bytes_of(const NetworkParts& parts, std::size_t blocks, std::size_t lanes,
                         std::size_t columns);

  // Working memory for so many threads; start() makes what is missing.
  void prepare(int threads);

  // What the process's own part number `part` adds for a sample: to be filled before start().
  std::uint32_t* partial(std::size_t block, std::size_t part, std::size_t sample) {
    return partials_.data() + ((block * own_.count + part) * lanes_ + sample) * words_;
  }
  // Of the first `blocks` blocks: sends what the other processes add up; waits for theirs, adds and sends the
  // sums; waits for their sums. What is done in between does not wait for them.
  void start(std::size_t blocks, int threads);
  void pass_on(int threads);
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
  // Of one thread: a row for each level of the tree.
  using Scratch = std::vector<AlignedArray<float>>;

  std::vector<Node> nodes_of(Slice parts) const;
  static void cover(Node node, Slice parts, std::vector<Node>& nodes);
  Slice samples_of(std::size_t rank) const;
  template <class Leaf>
  void add_up(Node node, const Leaf& leaf, Scratch& scratch, std::size_t level) const;
  template <class Leaf>
  void put_sum(Node node, const Leaf& leaf, Scratch& scratch, std::uint32_t* sum) const;
  void fill_node(std::size_t block, std::size_t node, std::size_t rank, Scratch& scratch);
  void fill_sum(std::size_t block, std::size_t sample, Scratch& scratch);
  std::span<std::byte> bytes(AlignedArray<std::uint32_t>& rows, std::size_t first, std::size_t count) const;
  std::size_t sum_at(std::size_t block, std::size_t sample) const {
    const Slice some = adds_up_[sample];
    return blocks_ * some.first + block * some.count + (sample - some.first);
  }
  void exchange();
  void spread();

  std::size_t parts_, lanes_, columns_, words_;
  Slice own_;
  Cluster* cluster_;
  int channel_;
  std::size_t rank_ = 0;
  std::size_t blocks_ = 0;                // of the batch
  std::vector<Slice> adds_up_;            // [sample] those of its process
  std::vector<Slice> held_;               // parts of each process
  std::vector<std::vector<Node>> nodes_;  // which it sends to the others
  std::vector<std::size_t> received_at_;  // [rank] first row of a block in received_, by sample and node
  std::size_t received_rows_ = 0;         // of a block
  AlignedArray<std::uint32_t> partials_;  // [block][own part][lane]
  AlignedArray<std::uint32_t> sent_;      // [rank][block][own node][its samples]
  AlignedArray<std::uint32_t> received_;  // [rank][block][its node][own samples]
  AlignedArray<std::uint32_t> sums_;      // [rank][block][its samples]
  std::vector<std::span<const std::byte>> out_;
  std::vector<std::span<std::byte>> in_;
  std::vector<Scratch> scratch_;  // by thread
};

}  // namespace slide
