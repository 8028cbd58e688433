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
struct PathRoom {
  std::vector<float> sums;  // by item, 0 between uses
  std::vector<std::uint32_t> met;
};

// Adds the `limit` largest of the sums to a list.
void add_strongest(const PathRoom& room, std::size_t limit, ItemWeights::List& list) {
  std::vector<std::uint32_t> ids = room.met;
  keep_strongest(ids, limit, room.sums);
  std::ranges::sort(ids);
  ItemWeights::List both;
  both.ids.reserve(ids.size() + list.ids.size());
  std::ranges::set_union(ids, list.ids, std::back_inserter(both.ids));
  both.ids.shrink_to_fit();
  both.weights.reserve(both.ids.size());
  for (std::size_t a = 0, b = 0; const std::uint32_t i : both.ids) {
    const bool path = a < ids.size() && ids[a] == i, own = b < list.ids.size() && list.ids[b] == i;
    both.weights.push_back((path ? room.sums[i] : 0.0F) + (own ? list.weights[b] : 0.0F));
    a += path ? 1 : 0;
    b += own ? 1 : 0;
  }
  list = std::move(both);
}

}  // namespace

Paths::Paths(const RidgeUsers& users, const PathPowers& powers)
    : users_(users), from_(degree_factors(users, powers.from)), to_(degree_factors(users, powers.to)) {}

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

void Paths::sum(std::size_t to, float factor, std::vector<float>& sums,
                std::vector<std::uint32_t>& met) const {
  met.clear();
  add_common(
      users_, to, [&](std::uint32_t user) { return users_.weight(user) * users_.weight(user); }, sums, met);
  sums[to] = 0.0F;
  std::erase(met, to);
  for (const std::uint32_t i : met) sums[i] *= factor * to_[to] * from_[i];
}

void add_paths(const Dataset& users, double factor, const PathPowers& powers, std::size_t limit, int threads,
               ItemWeights& weights) {
  constexpr std::size_t kItems = 16;  // items per task
  const RidgeUsers all(users);
  const Paths paths(all, powers);
  const std::size_t items = weights.items();
  std::vector<PathRoom> rooms(static_cast<std::size_t>(std::max(1, threads)));
  for (PathRoom& room : rooms) room.sums.resize(items);
  parallel_for((items + kItems - 1) / kItems, threads, [&](std::size_t task, int thread) {
    PathRoom& room = rooms[static_cast<std::size_t>(thread)];
    for (std::size_t j = task * kItems; j < std::min(items, (task + 1) * kItems); ++j) {
      paths.sum(j, static_cast<float>(factor), room.sums, room.met);
      if (weights.dense()) {
        for (const std::uint32_t i : room.met) weights.row(j)[i] += room.sums[i];
      } else {
        add_strongest(room, limit, weights.list_of(j));
      }
      for (const std::uint32_t i : room.met) room.sums[i] = 0.0F;
    }
  });
}

}  // namespace slide
