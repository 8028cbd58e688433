// What hash tables of any shape are worth over the output layer of a trained network: how many of the neurons
// that fire most for a sample they find, how evenly they are filled, and what they take. Nothing of the
// network changes.
//
// Made for some samples at once; measure() one at a time, since it takes the time of one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datasets/dataset.h"
#include "engine/base/aligned.h"
#include "engine/network/network.h"
#include "engine/network/table_recall.h"

namespace slide {

struct TableFigures {
  double recall = 0;          // share found of the kRecallTop neurons that fire most, mean over samples
  double found = 0;           // neurons, mean over queries
  double largest = 0;         // share of the neurons in the largest bucket of a table,
  double in_full = 0;         // and in full ones
  double query_seconds = 0;   // of a query, median
  double build_seconds = 0;   // all rows
  double rehash_seconds = 0;  // of a row that is hashed again
  double bytes = 0;
  HashConfig config;  // with all sizes
};

class TableBench {
 public:
  // Of the first samples of `data`, as many as are there. Throws InputError without any, or where the output
  // layer's input is not a dense layer.
  TableBench(const Network& network, const Dataset& data, std::size_t samples);

  // Tables of that shape, asked for `wanted` neurons by `block` samples at a time: as in training, but for
  // single samples of the search policy, which ask as at inference (NeuronIndex::find). The recall is that of
  // each sample among what its block found.
  TableFigures measure(const HashConfig& config, std::size_t wanted, std::size_t block) const;

  std::size_t samples() const { return tops_.size(); }

 private:
  struct Hidden {           // of a few samples
    AlignedArray<float> x;  // [samples x width]
    std::size_t samples;
  };
  struct Hits {
    std::size_t found = 0, all = 0;
  };
  void find(const lsh::NeuronIndex& index, std::size_t wanted, TableFigures& figures) const;
  void query(const lsh::NeuronIndex& index, std::size_t wanted, std::size_t block,
             TableFigures& figures) const;
  void pack(std::size_t first, std::size_t count, std::size_t lanes, float* xt) const;
  void count_hits(std::size_t first, std::size_t count, const lsh::IdSet& seen, Hits& hits) const;

  const Layer& layer_;
  std::size_t width_ = 0;
  std::vector<Hidden> hidden_;
  std::vector<TopNeurons> tops_;
};

}  // namespace slide
