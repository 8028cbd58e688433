// Measures hash tables of any shape over the output layer of a trained network: recall of the neurons with
// the largest outputs, load of the buckets, times and memory. Does not change the network.
//
// Constructed for some samples. Thread safety: const; run one measure() at a time, since it takes times on
// one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/aligned.h"
#include "engine/network/network.h"
#include "engine/network/table_recall.h"

namespace slide {

struct TableFigures {
  double recall = 0;          // share of the kRecallTop neurons with the largest outputs that are found
  double found = 0;           // neurons of an answer, mean over queries
  double largest = 0;         // share of the neurons in the largest bucket of a table
  double in_full = 0;         // share of the neurons in full buckets
  double query_seconds = 0;   // median of a query
  double build_seconds = 0;   // of building the tables
  double rehash_seconds = 0;  // of rehashing a row
  double bytes = 0;
  HashConfig config;  // with all sizes
};

class TableBench {
 public:
  // Takes the first min(samples, data.samples()) samples. Throws InputError if there are none, or if the
  // input of the output layer is not a dense layer. O(samples * neurons * width).
  TableBench(const Network& network, const Dataset& data, std::size_t samples);

  // Builds tables of the shape `config` and queries them for `wanted` neurons with blocks of `block` samples,
  // as in training; with block == 1 and the search policy, as at inference (NeuronIndex::find). Recall
  // counts, for each sample, the neurons that its block found.
  TableFigures measure(const HashConfig& config, std::size_t wanted, std::size_t block) const;

  std::size_t samples() const { return tops_.size(); }

 private:
  struct Hidden {           // outputs of the hidden layers for some samples
    AlignedArray<float> x;  // [samples][width]
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
