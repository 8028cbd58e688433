#include "datasets/rows/split.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/rows/shuffle.h"
#include "engine/base/error.h"

namespace slide {

namespace {

// Keys of the chosen rows, without label texts.
std::shared_ptr<const SampleKeys> chosen_keys(const SampleKeys* keys, std::span<const std::uint32_t> samples,
                                              std::size_t count) {
  if (keys == nullptr) return nullptr;
  SampleKeys chosen{{}, {}, keys->in_order};
  const auto choose = [&](const std::vector<std::uint32_t>& from, std::vector<std::uint32_t>& to) {
    if (from.empty()) return;
    to.reserve(count);
    for (const std::uint32_t i : samples.first(count)) to.push_back(from[i]);
  };
  choose(keys->groups, chosen.groups);
  choose(keys->times, chosen.times);
  return std::make_shared<const SampleKeys>(std::move(chosen));
}

}  // namespace

// Copies sparse features and labels; dense rows are shared. `samples` may have label texts, behind all
// samples.
Dataset copy_rows(const Dataset& data, std::span<const std::uint32_t> samples) {
  DatasetArrays arrays;
  std::size_t features = 0, labels = 0;
  for (const std::uint32_t i : samples) {
    features += data.features(i).ids.size();
    labels += data.labels(i).size();
  }
  arrays.feature_offsets.reserve(samples.size() + 1);
  arrays.label_offsets.reserve(samples.size() + 1);
  arrays.feature_ids.reserve(features);
  arrays.feature_values.reserve(features);
  arrays.label_ids.reserve(labels);
  for (const std::uint32_t i : samples) {
    const SparseRow row = data.features(i);
    const auto of_sample = data.labels(i);
    arrays.feature_ids.insert(arrays.feature_ids.end(), row.ids.begin(), row.ids.end());
    arrays.feature_values.insert(arrays.feature_values.end(), row.values.begin(), row.values.end());
    arrays.label_ids.insert(arrays.label_ids.end(), of_sample.begin(), of_sample.end());
    arrays.feature_offsets.push_back(arrays.feature_ids.size());
    arrays.label_offsets.push_back(arrays.label_ids.size());
    if (!data.weights().empty()) arrays.weights.push_back(data.weights()[i]);
  }
  const auto texts = static_cast<std::size_t>(
      std::ranges::count_if(samples, [&](std::uint32_t i) { return i >= data.samples(); }));
  return Dataset(std::move(arrays), data.sparse_count(), data.label_count())
      .with_label_texts(texts)
      .with_keys(chosen_keys(data.keys().get(), samples, samples.size() - texts))
      .with_dense(data.dense().chosen(samples))
      .with_label_weights_of(data);
}

namespace {

// Samples that are held out together or not at all.
struct Unit {
  std::uint64_t latest = 0;   // its latest time, then the position of the last sample with it
  std::uint64_t samples = 0;  // labelled samples
};

bool comes_later(const Unit& a, const Unit& b) {
  return a.latest > b.latest;
}

// Unit of a sample: its group, or itself.
std::uint32_t unit_of(const SampleKeys& keys, std::size_t sample) {
  return keys.groups.empty() ? static_cast<std::uint32_t>(sample) : keys.groups[sample];
}

// One unit per group of samples; without groups, one per sample.
std::vector<Unit> units_of(const Dataset& data) {
  const SampleKeys& keys = *data.keys();
  const std::size_t count =
      keys.groups.empty() ? data.samples() : std::size_t{std::ranges::max(keys.groups)} + 1;
  std::vector<Unit> units(count);
  for (std::size_t i = 0; i < data.samples(); ++i) {
    if (data.labels(i).empty()) continue;
    Unit& unit = units[unit_of(keys, i)];
    ++unit.samples;
    if (!keys.times.empty()) unit.latest = std::max(unit.latest, std::uint64_t{keys.times[i]} << 32 | i);
  }
  return units;
}

std::uint64_t distance(std::uint64_t a, std::uint64_t b) {
  return a > b ? a - b : b - a;
}

// The latest units: as many as bring their samples nearest to `wanted`.
std::vector<std::uint32_t> latest_units(const std::vector<Unit>& units, std::uint64_t wanted) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t u = 0; u < units.size(); ++u) {
    if (units[u].samples > 0) order.push_back(u);
  }
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) { return comes_later(units[a], units[b]); });
  std::size_t taken = 0;
  std::uint64_t samples = 0;
  while (taken < order.size()) {
    const std::uint64_t more = samples + units[order[taken]].samples;
    if (distance(more, wanted) >= distance(samples, wanted)) break;
    samples = more;
    ++taken;
  }
  order.resize(taken);
  return order;
}

// Removes units from `order` with about `wanted` samples in total: each unit that fits, and finally the
// smallest remaining one where that comes nearer. The difference is at most half of that unit.
std::vector<std::uint32_t> take_units(const std::vector<Unit>& units, std::uint64_t wanted,
                                      std::vector<std::uint32_t>& order) {
  std::vector<std::uint32_t> taken, left;
  std::uint64_t missing = wanted;
  for (const std::uint32_t u : order) {
    const bool fits = units[u].samples <= missing;
    (fits ? taken : left).push_back(u);
    missing -= fits ? units[u].samples : 0;
  }
  const auto smallest = std::ranges::min_element(left, {}, [&](std::uint32_t u) { return units[u].samples; });
  if (smallest != left.end() && distance(units[*smallest].samples, missing) < missing) {
    taken.push_back(*smallest);
    left.erase(smallest);
  }
  order = std::move(left);
  return taken;
}

// Random units with about `wanted` samples, disjoint from the units of the earlier folds of this seed.
std::vector<std::uint32_t> random_units(const std::vector<Unit>& units, std::uint64_t wanted,
                                        std::uint64_t seed, std::size_t fold) {
  std::vector<std::uint32_t> order(units.size());
  shuffle_order(order, seed, 0);
  std::erase_if(order, [&](std::uint32_t u) { return units[u].samples == 0; });
  for (std::size_t before = 0; before < fold; ++before) take_units(units, wanted, order);
  return take_units(units, wanted, order);
}

// Throws InputError where whole units leave one side empty. `held`: held-out samples among `all` labelled
// ones; `wanted`: how many should be.
void check_sides(const std::vector<Unit>& units, const SampleKeys& keys, std::uint64_t held,
                 std::uint64_t wanted, std::uint64_t all) {
  if (held > 0 && held < all) return;
  const auto groups = std::ranges::count_if(units, [](const Unit& unit) { return unit.samples > 0; });
  if (groups == 1)
    fail_input(
        "data.group: all {} samples with labels are of one group, so none can be held out for validation; "
        "give finer groups, or leave data.group out",
        all);
  if (held == all)
    fail_input(
        "data.group: {} of {} samples with labels are to be held out for validation, but whole groups leave "
        "none to train on; lower data.validation, or give finer groups",
        wanted, all);
  const Unit& first =
      keys.times.empty()
          ? *std::ranges::min_element(units, {},
                                      [](const Unit& u) { return u.samples > 0 ? u.samples : UINT64_MAX; })
          : *std::ranges::min_element(units, comes_later);
  fail_input(
      "data.group: {} of {} samples with labels are to be held out for validation, but the {} of {} groups "
      "alone has {}; raise data.validation, or give finer groups or a file for validation",
      wanted, all, keys.times.empty() ? "smallest" : "latest", groups, first.samples);
}

// Returns for each sample whether it is held out for validation. Holds out whole units with about `wanted` of
// the `labelled` samples. Data with times hold out the latest units in fold 0 and none in other folds; data
// without times hold out random units. Throws InputError where fold 0 would leave one side empty.
std::vector<bool> held_out_by_keys(const Dataset& data, std::uint64_t wanted, std::uint64_t labelled,
                                   std::uint64_t seed, std::size_t fold) {
  const SampleKeys& keys = *data.keys();
  const std::vector<Unit> units = units_of(data);
  std::vector<std::uint32_t> chosen;
  if (keys.times.empty()) {
    chosen = random_units(units, wanted, seed, fold);
  } else if (fold == 0) {
    chosen = latest_units(units, wanted);
  }
  std::vector<bool> is_chosen(units.size());
  std::uint64_t held_out = 0;
  for (const std::uint32_t u : chosen) {
    is_chosen[u] = true;
    held_out += units[u].samples;
  }
  if (fold == 0) check_sides(units, keys, held_out, wanted, labelled);
  std::vector<bool> validates(data.samples());
  for (std::size_t i = 0; i < data.samples(); ++i)
    validates[i] = !data.labels(i).empty() && is_chosen[unit_of(keys, i)];
  return validates;
}

// For samples without keys, returns for each whether it is held out: fold number `fold` of a random order,
// `wanted` samples.
std::vector<bool> held_out_at_random(const Dataset& data, std::size_t wanted, std::size_t labelled,
                                     std::uint64_t seed, std::size_t fold) {
  std::vector<std::uint32_t> order(data.samples());
  shuffle_order(order, seed, 0);  // training epochs start at 1
  const std::size_t first = std::min(fold * wanted, labelled - wanted);
  std::vector<bool> validates(data.samples());
  std::size_t seen = 0;  // labelled samples so far
  for (const std::uint32_t i : order) {
    if (data.labels(i).empty()) continue;
    validates[i] = seen >= first && seen < first + wanted;
    ++seen;
  }
  return validates;
}

}  // namespace

const char* split_rule(const Dataset& data) {
  const SampleKeys* keys = data.keys().get();
  if (keys == nullptr || (keys->groups.empty() && keys->times.empty())) return "random";
  if (keys->times.empty()) return "group";
  if (keys->groups.empty()) return keys->in_order ? "order" : "time";
  return keys->in_order ? "group and order" : "group and time";
}

// Holds out `share` of the labelled samples, `limit` at most, by groups and times where there are any. Label
// texts stay in the training part.
Split split_dataset(const Dataset& data, double share, std::size_t limit, std::uint64_t seed,
                    std::size_t fold, const std::string& origin) {
  std::size_t labelled = 0;
  for (std::size_t i = 0; i < data.samples(); ++i) labelled += data.labels(i).empty() ? 0 : 1;
  if (labelled < 2) {
    fail_input(
        "{}: a validation split needs two samples with labels, and this has {}; give more data, or other "
        "samples "
        "to validate on, by data.validation=FILE",
        origin, labelled);
  }
  const auto target = static_cast<std::size_t>(share * static_cast<double>(labelled));
  const std::size_t wanted = std::clamp<std::size_t>(std::min(target, limit), 1, labelled - 1);
  const bool by_keys = std::string_view(split_rule(data)) != "random";
  const std::vector<bool> validates = by_keys ? held_out_by_keys(data, wanted, labelled, seed, fold)
                                              : held_out_at_random(data, wanted, labelled, seed, fold);
  std::vector<std::uint32_t> train, validation;
  for (std::uint32_t i = 0; i < data.size(); ++i)
    (i < data.samples() && validates[i] ? validation : train).push_back(i);
  return {copy_rows(data, train), copy_rows(data, validation)};
}

}  // namespace slide
