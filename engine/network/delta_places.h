// Packs the place of a delta in a batch, (block, active neuron), into 32 bits: Contribution::source of a
// layer stored by neuron.
//
// Immutable; safe from any thread.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "engine/base/error.h"

namespace slide {

// Active neuron at position `active` of block `block`.
struct DeltaPlace {
  std::uint32_t block;
  std::uint32_t active;
};

class DeltaPlaces {
 public:
  DeltaPlaces() = default;
  // For batches of `blocks` blocks with up to `active` active neurons each. Throws InputError when these are
  // too many to number.
  DeltaPlaces(std::size_t blocks, std::size_t active) {
    const std::size_t bits = active > 1 ? static_cast<std::size_t>(std::bit_width(active - 1)) : 0;
    if (bits >= 32 || (blocks > 0 && (blocks - 1) >> (32 - bits) != 0)) {
      fail_input(
          "a step of {} blocks with {} active neurons each is too large; lower train.batch_size or "
          "raise train.block_size",
          blocks, active);
    }
    bits_ = static_cast<std::uint32_t>(bits);
  }

  std::uint32_t source(std::size_t block, std::size_t active) const {
    return static_cast<std::uint32_t>(block << bits_ | active);
  }
  DeltaPlace of(std::uint32_t source) const {
    return {source >> bits_, source & ((std::uint32_t{1} << bits_) - 1)};
  }

 private:
  std::uint32_t bits_ = 0;  // width of `active`, below the bits of `block`
};

}  // namespace slide
