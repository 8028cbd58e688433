#include "datasets/formats/item_masking.h"

#include <utility>

#include "datasets/rows/row_parser.h"
#include "engine/base/rng.h"

namespace slide {

std::vector<std::uint32_t> users_to_mask(const Dataset& users) {
  std::vector<std::uint32_t> several, single;  // by number of items
  for (std::size_t user = 0; user < users.size(); ++user) {
    if (can_mask(users, user)) {
      several.push_back(static_cast<std::uint32_t>(user));
    } else if (several.empty() && !users.features(user).ids.empty()) {
      single.push_back(static_cast<std::uint32_t>(user));
    }
  }
  return several.empty() ? single : several;
}

MaskedItems mask_items(const ItemMasking& masking, const Dataset& users, std::uint32_t user,
                       MaskingBuffer& buffer) {
  const SparseRow items = users.features(user);
  const std::size_t count = items.ids.size(), first_input = buffer.inputs.size(),
                    first_target = buffer.targets.size();
  // Draws twice from one stream: first to see whether all items fall on one side, then to split them.
  const Rng stream(masking.seed, Purpose::kMasking, masking.epoch, user);
  Rng coins = stream;
  std::size_t targets = 0;
  for (std::size_t i = 0; i < count; ++i) targets += coins.uniform() < masking.probability ? 1 : 0;
  const bool one_side = targets == 0 || targets == count;
  const std::size_t moved = one_side ? coins.below(static_cast<std::uint32_t>(count)) : count;
  coins = stream;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_target = count == 1 || (coins.uniform() < masking.probability) != (i == moved);
    (is_target ? buffer.targets : buffer.inputs).push_back(items.ids[i]);
    if (!is_target) buffer.values.push_back(items.values[i]);
  }
  const std::size_t inputs = buffer.inputs.size() - first_input;
  float* const values = buffer.values.data() + first_input;
  if (masking.normalize) scale_to_unit_length(values, inputs);
  return {{{buffer.inputs.data() + first_input, inputs}, {values, inputs}},
          {buffer.targets.data() + first_target, buffer.targets.size() - first_target}};
}

// Masks each user `splits` times, each time with another seed. Rows: [splits x users_to_mask()].
Dataset masked_samples(const ItemMasking& masking, const Dataset& users, std::size_t splits) {
  DatasetArrays rows;
  MaskingBuffer buffer;
  ItemMasking split = masking;
  const std::vector<std::uint32_t> masked_users = users_to_mask(users);
  for (std::size_t s = 0; s < splits; ++s) {
    split.seed = mix64(masking.seed + s);
    for (const std::uint32_t user : masked_users) {
      buffer.clear();
      const auto [inputs, targets] = mask_items(split, users, user, buffer);
      rows.feature_ids.insert(rows.feature_ids.end(), inputs.ids.begin(), inputs.ids.end());
      rows.feature_values.insert(rows.feature_values.end(), inputs.values.begin(), inputs.values.end());
      rows.feature_offsets.push_back(rows.feature_ids.size());
      rows.label_ids.insert(rows.label_ids.end(), targets.begin(), targets.end());
      rows.label_offsets.push_back(rows.label_ids.size());
    }
  }
  return {std::move(rows), users.feature_count(), users.label_count()};
}

}  // namespace slide
