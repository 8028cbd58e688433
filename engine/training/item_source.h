// Interactions as training samples: each epoch masks some items of a user anew; the others are the features,
// the masked ones the labels (datasets/formats/item_draw.h).
#pragma once

#include <string>
#include <vector>

#include "datasets/formats/item_draw.h"
#include "engine/loop/sample_source.h"

namespace slide {

class ItemSource final : public SampleSource {
 public:
  // Users with fewer than two items are no samples. `draw` without its epoch. Throws InputError, which names
  // the data set by `origin`, where all are such.
  ItemSource(Dataset users, const ItemDraw& draw, const std::string& origin);

  void fill(const Network& network, std::span<const std::uint32_t> some, std::uint64_t epoch,
            Block& block) override;
  bool masks() const override { return true; }
  void reserve(std::size_t blocks, std::size_t feature_entries) override;

 private:
  Dataset users_;
  ItemDraw draw_;
  std::vector<DrawnRoom> rooms_;  // by block
};

}  // namespace slide
