#include "engine/training/item_source.h"

#include <utility>

#include "engine/base/error.h"

namespace slide {

namespace {

std::vector<std::uint32_t> users_with_items(const Dataset& users, const std::string& origin) {
  std::vector<std::uint32_t> samples = users_to_draw(users);
  if (samples.empty()) fail_input("{}: no user has an item that counts; give a larger log", origin);
  return samples;
}

}  // namespace

ItemSource::ItemSource(Dataset users, const ItemDraw& draw, const std::string& origin)
    : SampleSource(users_with_items(users, origin)), users_(std::move(users)), draw_(draw) {}

void ItemSource::reserve(std::size_t blocks, std::size_t feature_entries) {
  rooms_.resize(blocks);
  for (DrawnRoom& room : rooms_) room.reserve(feature_entries);
}

void ItemSource::fill(const Network& network, std::span<const std::uint32_t> some, std::uint64_t epoch,
                      Block& block) {
  block.clear_samples();
  DrawnRoom& room = rooms_[block.number];
  room.clear();
  ItemDraw draw = draw_;
  draw.epoch = epoch;
  for (const std::uint32_t user : some) {
    const DrawnItems items = draw_items(draw, users_, user, room);
    network.add_crossed(items.shown, block);
    block.labels.push_back(items.hidden);
    block.left_out.push_back(items.shown.ids);
    if (!users_.weights().empty()) block.weights.push_back(users_.weights()[user]);
  }
}

}  // namespace slide
