#include "datasets/formats/item_draw.h"

#include <utility>

#include "datasets/rows/row_parser.h"
#include "engine/base/rng.h"

namespace slide {

std::vector<std::uint32_t> users_to_draw(const Dataset& users) {
  std::vector<std::uint32_t> drawn, of_one_item;
  for (std::size_t user = 0; user < users.size(); ++user) {
    if (can_hide(users, user)) {
      drawn.push_back(static_cast<std::uint32_t>(user));
    } else if (drawn.empty() && !users.features(user).ids.empty()) {
      of_one_item.push_back(static_cast<std::uint32_t>(user));
    }
  }
  return drawn.empty() ? of_one_item : drawn;
}

DrawnItems draw_items(const ItemDraw& draw, const Dataset& users, std::uint32_t user, DrawnRoom& room) {
  const SparseRow items = users.features(user);
  const std::size_t count = items.ids.size(), first_shown = room.shown.size(),
                    first_hidden = room.hidden.size();
  const Rng stream(draw.seed, Purpose::kHiding, draw.epoch, user);
  Rng coins = stream;
  std::size_t asked = 0;
  for (std::size_t i = 0; i < count; ++i) asked += coins.uniform() < draw.hide ? 1 : 0;
  const bool one_side = asked == 0 || asked == count;
  const std::size_t other = one_side ? coins.below(static_cast<std::uint32_t>(count)) : count;
  coins = stream;
  for (std::size_t i = 0; i < count; ++i) {
    const bool hidden = count == 1 || (coins.uniform() < draw.hide) != (i == other);
    (hidden ? room.hidden : room.shown).push_back(items.ids[i]);
    if (!hidden) room.values.push_back(items.values[i]);
  }
  const std::size_t shown = room.shown.size() - first_shown;
  float* const values = room.values.data() + first_shown;
  if (draw.normalize) scale_to_unit_length(values, shown);
  return {{{room.shown.data() + first_shown, shown}, {values, shown}},
          {room.hidden.data() + first_hidden, room.hidden.size() - first_hidden}};
}

Dataset drawn_samples(const ItemDraw& draw, const Dataset& users, std::size_t draws) {
  DatasetArrays rows;
  DrawnRoom room;
  ItemDraw each = draw;
  const std::vector<std::uint32_t> drawn = users_to_draw(users);
  for (std::size_t d = 0; d < draws; ++d) {
    each.seed = mix64(draw.seed + d);
    for (const std::uint32_t user : drawn) {
      room.clear();
      const auto [shown, hidden] = draw_items(each, users, user, room);
      rows.feature_ids.insert(rows.feature_ids.end(), shown.ids.begin(), shown.ids.end());
      rows.feature_values.insert(rows.feature_values.end(), shown.values.begin(), shown.values.end());
      rows.feature_offsets.push_back(rows.feature_ids.size());
      rows.label_ids.insert(rows.label_ids.end(), hidden.begin(), hidden.end());
      rows.label_offsets.push_back(rows.label_ids.size());
    }
  }
  return {std::move(rows), users.feature_count(), users.label_count()};
}

}  // namespace slide
