#include "datasets/formats/held_out.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "datasets/rows/row_parser.h"
#include "engine/base/error.h"

namespace slide {

namespace {

void add_labels(std::span<const std::uint32_t> labels, DatasetArrays& rows) {
  rows.label_ids.insert(rows.label_ids.end(), labels.begin(), labels.end());
  rows.label_offsets.push_back(rows.label_ids.size());
}

void add_features(const SparseRow& features, DatasetArrays& rows) {
  rows.feature_ids.insert(rows.feature_ids.end(), features.ids.begin(), features.ids.end());
  rows.feature_values.insert(rows.feature_values.end(), features.values.begin(), features.values.end());
  rows.feature_offsets.push_back(rows.feature_ids.size());
}

void add_features_without(const SparseRow& features, std::span<const std::uint32_t> items, bool normalize,
                          DatasetArrays& rows) {
  const std::size_t first = rows.feature_ids.size();
  for (std::size_t i = 0; i < features.ids.size(); ++i) {
    if (std::ranges::binary_search(items, features.ids[i])) continue;
    rows.feature_ids.push_back(features.ids[i]);
    rows.feature_values.push_back(features.values[i]);
  }
  if (normalize) scale_to_unit_length(rows.feature_values.data() + first, rows.feature_ids.size() - first);
  rows.feature_offsets.push_back(rows.feature_ids.size());
}

void require_rows(const Dataset& data, const LogUsers& users) {
  if (data.size() != users.size())
    throw Error(fmt::format("{} rows of a log of {} users", data.size(), users.size()));
}

}  // namespace

// Features are the items of the user in `known`, labels the items in `asked` that are not among them.
Dataset held_out_samples(const Dataset& asked, const LogUsers& asked_users, const Dataset& known,
                         const LogUsers& known_users) {
  require_rows(asked, asked_users);
  require_rows(known, known_users);
  DatasetArrays rows;
  std::vector<std::uint32_t> labels;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const std::optional<std::size_t> at = known_users.row_of(asked_users.name(i));
    const SparseRow features = at ? known.features(*at) : SparseRow{};
    labels.clear();
    std::ranges::set_difference(asked.labels(i), features.ids, std::back_inserter(labels));
    add_features(features, rows);
    add_labels(labels, rows);
  }
  return {std::move(rows), asked.feature_count(), asked.label_count()};
}

// Splits the row of each user with held-out items: these are the labels of a test row, and the user's other
// items its features and the row of `rest`. Users without held-out items stay whole in `rest`; so do users
// without other items, unless whole_users.
HeldOutApart held_out_apart(const Dataset& log, const LogUsers& users, bool normalize, bool whole_users) {
  require_rows(log, users);
  DatasetArrays rest, test;
  for (std::size_t i = 0; i < log.size(); ++i) {
    const std::span<const std::uint32_t> held = users.held_out(i);
    if (held.empty() || (held.size() == log.labels(i).size() && !whole_users)) {
      add_features(log.features(i), rest);
      add_labels(log.labels(i), rest);
      continue;
    }
    add_features_without(log.features(i), held, normalize, rest);
    const std::size_t left = rest.feature_offsets.size() - 2;
    const auto ids = std::span(rest.feature_ids).subspan(rest.feature_offsets[left]);
    const auto values = std::span(rest.feature_values).subspan(rest.feature_offsets[left]);
    add_labels(ids, rest);
    add_features({ids, values}, test);
    add_labels(held, test);
  }
  return {{std::move(rest), log.feature_count(), log.label_count()},
          {std::move(test), log.feature_count(), log.label_count()}};
}

}  // namespace slide
