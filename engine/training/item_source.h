// Training samples from interactions: each epoch masks other items of a user. Masked items are the labels of
// the sample, the others its features (datasets/formats/item_masking.h).
#pragma once

#include <string>
#include <vector>

#include "datasets/formats/item_masking.h"
#include "engine/loop/sample_source.h"

namespace slide {

class ItemSource final : public SampleSource {
 public:
  // The samples are users_to_mask(). masking.epoch is not used: fill() has the epoch. Throws InputError,
  // which names the data set by `origin`, where no user has an item.
  ItemSource(Dataset users, const ItemMasking& masking, const std::string& origin);

  void fill(const Network& network, std::span<const std::uint32_t> some, std::uint64_t epoch,
            Block& block) override;
  bool masks() const override { return true; }
  void reserve(std::size_t blocks, std::size_t feature_entries) override;

 private:
  Dataset users_;
  ItemMasking masking_;
  std::vector<MaskingBuffer> buffers_;  // by block
};

}  // namespace slide
