// A sparse term added to the logits of the output layer: the interface of the linear term (engine/wide). The
// core computes, updates and stores the term through this interface alone.
//
// The term has weights from features of the samples to neurons. Thread safety: const methods are safe from
// any thread; update() may run concurrently for different neurons.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/byte_io.h"
#include "engine/kernels/kernels.h"
#include "engine/network/block_features.h"

namespace slide {

// Matches between a block's features and the features that its active neurons have weights for, kept from
// forward to update. Grows as needed.
struct TermHits {
  struct Neuron {
    std::size_t masks = 0;   // index of its first mask; one bit per weight of the neuron, 16 per mask
    std::size_t kinds = 0;   // index of its first kind mask; one bit per match, 16 in each of kKinds masks
    std::size_t places = 0;  // index of its first position; all of kind 0, then of kind 1, ...
    std::uint32_t count[kernels::kKinds] = {};
    std::size_t found() const { return std::size_t{count[0]} + count[1] + count[2] + count[3]; }
  };
  std::vector<Neuron> neurons;  // by active neuron
  std::vector<std::uint16_t> masks, kinds;
  std::vector<std::uint32_t> places;
};

// Working memory of forward() for one neuron. Grows as needed.
struct TermScratch {
  std::vector<std::uint32_t> columns, columns_by_kind;
  std::vector<float> pattern, weights, weights_by_kind;
};

class OutputTerm {
 public:
  virtual ~OutputTerm() = default;

  // z[a * lanes + s] += the term of neuron ids[a] for sample s. Stores the matches in `hits`.
  virtual void forward(const BlockFeatures& features, std::span<const std::uint32_t> ids, std::size_t lanes,
                       float* z, TermHits& hits, TermScratch& scratch) const = 0;

  // Prefetches the weights of neuron `id`: before forward(), or together with the accumulators before
  // update().
  virtual void prefetch(std::uint32_t id, const float* sums = nullptr) const = 0;

  // The match of a block with the weights of a neuron, active neuron `a` of the block.
  struct BlockMatch {
    const BlockFeatures& features;
    const TermHits& hits;
    std::size_t a;
    std::size_t lanes;
  };
  struct Deltas {
    const float* d;                         // [lanes], output gradient
    std::span<const std::uint32_t> listed;  // samples of nonzero gradient; empty: not listed
  };
  struct Step {
    float rate;     // share of the term's learning rate in this step, in [0, 1]
    float samples;  // batch size: converts gradients of the mean loss to gradients per sample
  };
  // Updates the weights of neuron `id`, with one accumulator per weight in sums[weights()].
  virtual void update(std::uint32_t id, const BlockMatch& at, const Deltas& deltas, Step step,
                      std::span<float> sums, std::vector<float>& gradients) = 0;

  virtual std::size_t weights() const = 0;

  // For checkpoints. load() reads the neurons of this term, which begin at neuron `first` of the `neurons` in
  // the file, and returns the number of weights before theirs; throws InputError for another term and for
  // weights that are not finite.
  virtual void save(ByteWriter& out) const = 0;
  virtual std::uint64_t load(ByteReader& in, std::size_t features, std::size_t first,
                             std::size_t neurons) = 0;

 protected:
  OutputTerm() = default;
  OutputTerm(const OutputTerm&) = default;
  OutputTerm& operator=(const OutputTerm&) = default;
  OutputTerm(OutputTerm&&) = default;
  OutputTerm& operator=(OutputTerm&&) = default;
};

}  // namespace slide
