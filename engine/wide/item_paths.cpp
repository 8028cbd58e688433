#include "engine/wide/item_paths.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "engine/base/parallel.h"
#include "engine/statistics/label_sums.h"

namespace slide {

namespace {

// d^-power of each item's users.
std::vector<float> degree_factors(const RidgeUsers& users, double power) {
  std::vector<float> factors(users.item_count());
  for (std::size_t i = 0; i < factors.size(); ++i)
    factors[i] = static_cast<float>(std::pow(std::max(1.0, double(users.users_of(i).size())), -power));
  return factors;
}

// Working memory of a thread.
struct PathScratch {
  std::vector<float> sums;  // by item, 0 between uses
  std::vector<std::uint32_t> met;
};

// Adds the `limit` largest sums to a list of weights: the union of both, ascending by item.
void add_strongest(const PathScratch& scratch, std::size_t limit, ItemWeights::List& list) {
  std::vector<std::uint32_t> ids = scratch.met;
  keep_strongest(ids, limit, scratch.sums);
  std::ranges::sort(ids);
  ItemWeights::List merged;
  merged.ids.reserve(ids.size() + list.ids.size());
  std::ranges::set_union(ids, list.ids, std::back_inserter(merged.ids));
  merged.ids.shrink_to_fit();
  merged.weights.reserve(merged.ids.size());
  for (std::size_t a = 0, b = 0; const std::uint32_t i : merged.ids) {
    const bool has_path = a < ids.size() && ids[a] == i;
    const bool has_weight = b < list.ids.size() && list.ids[b] == i;
    merged.weights.push_back((has_path ? scratch.sums[i] : 0.0F) + (has_weight ? list.weights[b] : 0.0F));
    a += has_path ? 1 : 0;
    b += has_weight ? 1 : 0;
  }
  list = std::move(merged);
}

}  // namespace

Paths::Paths(const RidgeUsers& users, const PathPowers& powers)
    : users_(users), from_(degree_factors(users, powers.from)), to_(degree_factors(users, powers.to)) {}

// Walks each path item - user - item once. reached[u] = sum of d_i^-a over the known items i of user u; then
// each user u adds reached[u] / (number of its items) to the scores of its items, which d_j^-b scales at
// last.
void Paths::score(std::span<const std::uint32_t> known, std::vector<float>& reached,
                  std::vector<std::uint32_t>& met, std::vector<float>& scores) const {
  std::ranges::fill(scores, 0.0F);
  met.clear();
  for (const std::uint32_t item : known) {
    for (const std::uint32_t user : users_.users_of(item)) {
      if (reached[user] == 0.0F) met.push_back(user);
      reached[user] += from_[item];
    }
  }
  for (const std::uint32_t user : met) {
    const float weight = std::exchange(reached[user], 0.0F) * users_.weight(user) * users_.weight(user);
    for (const std::uint32_t item : users_.items(user)) scores[item] += weight;
  }
  for (std::size_t i = 0; i < scores.size(); ++i) scores[i] *= to_[i];
}

// The same from item `to` backwards: squared user weights are 1 / (number of items).
void Paths::weights_for(std::size_t to, float factor, std::vector<float>& sums,
                        std::vector<std::uint32_t>& met) const {
  met.clear();
  add_common(
      users_, to, [&](std::uint32_t user) { return users_.weight(user) * users_.weight(user); }, sums, met);
  sums[to] = 0.0F;
  std::erase(met, to);
  for (const std::uint32_t i : met) sums[i] *= factor * to_[to] * from_[i];
}

// Adds the path weights for each item j to its row of weights, or merges the largest into its list.
void add_paths(const Dataset& users, double factor, const PathPowers& powers, std::size_t limit, int threads,
               ItemWeights& weights) {
  constexpr std::size_t kItems = 16;  // items per task
  const RidgeUsers all(users);
  const Paths paths(all, powers);
  const std::size_t items = weights.items();
  std::vector<PathScratch> of_thread(static_cast<std::size_t>(std::max(1, threads)));
  for (PathScratch& scratch : of_thread) scratch.sums.resize(items);
  parallel_for((items + kItems - 1) / kItems, threads, [&](std::size_t task, int thread) {
    PathScratch& scratch = of_thread[static_cast<std::size_t>(thread)];
    for (std::size_t j = task * kItems; j < std::min(items, (task + 1) * kItems); ++j) {
      paths.weights_for(j, static_cast<float>(factor), scratch.sums, scratch.met);
      if (weights.dense()) {
        for (const std::uint32_t i : scratch.met) weights.row(j)[i] += scratch.sums[i];
      } else {
        add_strongest(scratch, limit, weights.list_of(j));
      }
      for (const std::uint32_t i : scratch.met) scratch.sums[i] = 0.0F;
    }
  });
}

}  // namespace slide
