// Source of the training loop's samples: an interface, implemented for labelled rows (here) and for
// interactions (engine/training/item_source.h).
//
// One loop has one source; const methods are safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/network/network.h"

namespace slide {

class SampleSource {
 public:
  virtual ~SampleSource() = default;
  SampleSource(const SampleSource&) = delete;
  SampleSource& operator=(const SampleSource&) = delete;

  // The samples of an epoch, ascending; at least one. The loop shuffles and cuts them.
  std::span<const std::uint32_t> samples() const { return samples_; }

  // Clears the block and fills it with the rows, labels and weights of `some` of the samples, as `network`
  // takes them. A function of its arguments: `epoch` counts from 1. Different blocks may be filled
  // concurrently.
  virtual void fill(const Network& network, std::span<const std::uint32_t> some, std::uint64_t epoch,
                    Block& block) = 0;

  // Whether samples mask neurons of the output layer (Block::masked).
  virtual bool masks() const { return false; }
  // Reserves memory for `blocks` blocks of up to `feature_entries` features, numbered from 0.
  virtual void reserve(std::size_t blocks, std::size_t feature_entries) {
    static_cast<void>(blocks), static_cast<void>(feature_entries);
  }

 protected:
  explicit SampleSource(std::vector<std::uint32_t> samples) : samples_(std::move(samples)) {}

 private:
  std::vector<std::uint32_t> samples_;
};

// Labelled rows; rows without a label, or with weight 0, are no samples.
class RowSource final : public SampleSource {
 public:
  // `rows` has the features as the hidden layers take them. Throws InputError, which names the data set by
  // `origin`, where no row has a label.
  RowSource(Dataset rows, const std::string& origin);

  void fill(const Network& network, std::span<const std::uint32_t> some, std::uint64_t epoch,
            Block& block) override;

 private:
  Dataset rows_;
};

}  // namespace slide
