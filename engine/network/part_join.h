// Sums over the parts of a network (network_parts.h) in a step: hidden activations, their gradients,
// log-norms of a normalised loss, losses. Parts may be in several processes. Built for one network and one
// shape of batches; allocates nothing later.
//
// "Part number p" counts the parts of this process. Thread safety: delta(), norms() and total() may be
// written and read for different blocks and parts at the same time; other functions are for one thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/cluster/cluster.h"
#include "engine/network/active_set.h"
#include "engine/network/network_parts.h"
#include "engine/network/part_sums.h"

namespace slide {

// Sums over the samples of a step.
struct StepSums {
  double loss = 0.0;
  double active = 0.0;    // active neurons of the output layer
  ActiveSources sources;  // active neurons by source; 0 in a dense layer
  bool stop = false;      // whether a process called want_stop()
};

class PartJoin {
 public:
  struct Shape {
    std::size_t blocks = 0, lanes = 0;
    std::size_t hidden = 0;  // units of the first layer, 0 where the output is the first
    bool normalised_loss = false;
    int threads = 1;
  };
  // `cluster`: the processes that hold the parts, or nullptr if this process holds all.
  PartJoin(const NetworkParts& parts, const Shape& shape, Cluster* cluster);
  static double bytes_of(const NetworkParts& parts, const Shape& shape);

  // Sums of the first hidden layer's activations and gradients, for some blocks of a batch. While the sums of
  // one group are sent, another group is computed; small batches have one group.
  struct Group {
    Slice blocks;
    PartSums hidden, gradient;
    // Number of its blocks in a batch of `all` blocks.
    std::size_t used(std::size_t all) const { return std::min(blocks.end(), all) - blocks.first; }
  };
  // The groups of a batch of `blocks` blocks; none without a hidden layer.
  std::span<Group> groups(std::size_t blocks);
  // Gradient of a block's hidden activations by one part: [lanes x stride of the hidden layer].
  float* delta(std::size_t block, std::size_t part) {
    return deltas_.data() + (block * own_.count + part) * lanes_ * stride_;
  }

  // Normalised loss, log of the sum of exp(z) by sample: norms() [lanes] over the neurons of one part,
  // written by softmax_part(). join_norms() exchanges them for some blocks (collective). fill_total() then
  // sets total() [lanes], over all parts, for some samples of a block.
  float* norms(std::size_t block, std::size_t part) { return norms_.data() + norm_at(rank_, block, part); }
  void join_norms(Slice blocks);
  void fill_total(std::size_t block, Slice samples);
  const float* total(std::size_t block) const { return totals_.data() + block * lanes_; }

  // Call in this order: put() sets the sums of one part; start_sum() sends the sums of this process
  // (collective); sum() waits and returns the sums over all parts.
  void put(std::size_t part, const StepSums& own);
  void start_sum();
  StepSums sum();
  // Sets StepSums::stop in the next step's sum() of all processes.
  void want_stop() { wants_stop_ = true; }

 private:
  std::size_t norm_at(std::size_t rank, std::size_t block, std::size_t part) const {
    return blocks_ * lanes_ * held_[rank].first + (block * held_[rank].count + part) * lanes_;
  }
  // Starts an all-gather: rows_of(rank) is the memory, as bytes, of the rows of that rank.
  template <class RowsOf>
  void start_exchange(int channel, const RowsOf& rows_of);

  std::size_t blocks_, lanes_, stride_;
  std::size_t parts_;
  Slice own_;
  Cluster* cluster_;
  std::size_t rank_ = 0;
  std::vector<Slice> held_;  // parts of each process
  std::vector<Group> groups_;
  AlignedArray<float> deltas_;
  AlignedArray<float> norms_;   // [rank][block][part of the rank][lane]
  AlignedArray<float> totals_;  // [block][lane]
  struct Sums {
    double loss, active, stop;
    ActiveSources sources;
  };
  bool wants_stop_ = false;
  std::vector<Sums> sums_;  // by part
  std::vector<std::span<const std::byte>> out_;
  std::vector<std::span<std::byte>> in_;
};

}  // namespace slide
