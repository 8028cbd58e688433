#include "engine/training/item_source.h"

#include <utility>

#include "engine/base/error.h"

namespace slide {

namespace {

std::vector<std::uint32_t> users_with_items(const Dataset& users, const std::string& origin) {
  std::vector<std::uint32_t> samples = users_to_mask(users);
  if (samples.empty()) fail_input("{}: no user has an item that counts; give a larger log", origin);
  return samples;
}

}  // namespace

ItemSource::ItemSource(Dataset users, const ItemMasking& masking, const std::string& origin)
    : SampleSource(users_with_items(users, origin)), users_(std::move(users)), masking_(masking) {}

void ItemSource::reserve(std::size_t blocks, std::size_t feature_entries) {
  buffers_.resize(blocks);
  for (MaskingBuffer& buffer : buffers_) buffer.reserve(feature_entries);
}

// The inputs of a user are features and masked outputs, the targets are labels.
void ItemSource::fill(const Network& network, std::span<const std::uint32_t> some, std::uint64_t epoch,
                      Block& block) {
  block.clear_samples();
  MaskingBuffer& buffer = buffers_[block.number];
  buffer.clear();
  ItemMasking masking = masking_;
  masking.epoch = epoch;
  for (const std::uint32_t user : some) {
    const MaskedItems items = mask_items(masking, users_, user, buffer);
    network.add_crossed(items.inputs, block);
    block.labels.push_back(items.targets);
    block.masked.push_back(items.inputs.ids);
    if (!users_.weights().empty()) block.weights.push_back(users_.weights()[user]);
  }
}

}  // namespace slide
