// What a step needs besides where the network is in parts (network_parts.h): the sums over parts of hidden
// units and of their gradients, and under softmax the norm over all of them. Made for a network and a shape
// of batches at once; belongs to one training.
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

// Summed over samples.
struct StepSums {
  double loss = 0.0;
  double active = 0.0;    // neurons of the output layer,
  ActiveSources sources;  // where it is sampled, by source
  bool stop = false;      // whether a process asked for it before (PartJoin::want_stop)
};

class PartJoin {
 public:
  struct Shape {
    std::size_t blocks = 0, lanes = 0;
    std::size_t hidden = 0;  // units of the first layer, 0 where the output is the first
    bool softmax = false;
    int threads = 1;
  };
  // `cluster`: of the processes that hold the parts; nullptr where this one holds all.
  PartJoin(const NetworkParts& parts, const Shape& shape, Cluster* cluster);
  static double bytes_of(const NetworkParts& parts, const Shape& shape);

  // Sums of a hidden layer, and of the gradient into it, for some blocks of a batch. While those of one group
  // are under way, another is computed; too little to send is one group.
  struct Group {
    Slice blocks;
    PartSums hidden, gradient;
    // Of a batch with so many blocks.
    std::size_t used(std::size_t all) const { return std::min(blocks.end(), all) - blocks.first; }
  };
  // Those with a block, of a batch with so many; none without a hidden layer.
  std::span<Group> groups(std::size_t blocks);
  // Where the process's part number `part` puts the gradient of a block: [lanes x hidden_stride].
  float* delta(std::size_t block, std::size_t part) {
    return deltas_.data() + (block * own_.count + part) * lanes_ * stride_;
  }

  // Softmax: the process's part number `part` leaves here the norm of each sample of a block over its neurons
  // (softmax_part); join_norms() then gets those of all parts for some blocks, and fill_total() has total()
  // be the norm over all.
  float* norms(std::size_t block, std::size_t part) { return norms_.data() + norm_at(rank_, block, part); }
  void join_norms(Slice blocks);
  void fill_total(std::size_t block, Slice samples);
  const float* total(std::size_t block) const { return totals_.data() + block * lanes_; }

  // The loss and the active neurons of the process's part number `part`; sends them; and those of all parts.
  void put(std::size_t part, const StepSums& own);
  void start_sum();
  StepSums sum();
  // sum() of the next step tells all processes that this one wants to stop.
  void want_stop() { wants_stop_ = true; }

 private:
  std::size_t norm_at(std::size_t rank, std::size_t block, std::size_t part) const {
    return blocks_ * lanes_ * held_[rank].first + (block * held_[rank].count + part) * lanes_;
  }
  // Sends this process's rows to all and gets theirs; rows_of(rank) are bytes.
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
  AlignedArray<float> norms_;   // [rank][block][its part][lane]
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
