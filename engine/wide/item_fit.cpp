#include "engine/wide/item_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "datasets/rows/split.h"
#include "engine/base/parallel.h"
#include "engine/base/rng.h"
#include "engine/wide/item_paths.h"

namespace slide {

namespace {

constexpr std::size_t kCooccurrence = 128;  // items that an item is regressed on, of many items and users
constexpr std::size_t kByUsers = 1024;      // weights of an item that are kept of the regression by users
constexpr std::size_t kMaxItemsByUsers = 65'536;  // whose weights take 537 MB
constexpr std::size_t kMinItems = 5;              // of a user that is held out
constexpr std::size_t kTop = 20;
constexpr double kPenaltyStep = 4;
constexpr int kPenaltySteps = 2;  // to either side
constexpr std::array kPowers = {PathPowers{0.7, 0.3}, PathPowers{0.5, 0.5}};
constexpr std::array kShares = {0.1, 0.3, 1.0,
                                3.0};  // root mean square of scores by paths over the regression's
// The choices at one penalty: the regression alone, then each share with each of kPowers.
constexpr std::size_t kChoices = 1 + kPowers.size() * kShares.size();
using Gains = std::array<double, kChoices>;  // NDCG of a user

bool by_users(std::size_t users, std::size_t items) {
  return items > kMaxRidgeItems && items <= kMaxItemsByUsers && users <= kMaxRidgeItems;
}

ItemWeights regression(const Dataset& users, double penalty, int threads) {
  const std::size_t items = users.label_count();
  if (by_users(users.size(), items)) return ridge_by_users(users, penalty, kByUsers, threads);
  return items <= kMaxRidgeItems ? ridge_of_items(users, penalty, threads)
                                 : ridge_of_cooccurring(users, penalty, kCooccurrence, threads);
}

// Scores by a regression: the weights by the item they come from.
class Regressed {
 public:
  explicit Regressed(ItemWeights weights) : weights_(std::move(weights)) {
    if (weights_.dense()) return;
    offsets_.assign(weights_.items() + 1, 0);
    for (std::size_t j = 0; j < weights_.items(); ++j)
      for (const std::uint32_t i : weights_.list(j).ids) ++offsets_[i + 1];
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    to_.resize(offsets_.back());
    values_.resize(offsets_.back());
    std::vector<std::uint64_t> next(offsets_.begin(), offsets_.end() - 1);
    for (std::size_t j = 0; j < weights_.items(); ++j) {
      const SparseRow list = weights_.list(j);
      for (std::size_t k = 0; k < list.ids.size(); ++k) {
        const std::uint64_t place = next[list.ids[k]]++;
        to_[place] = static_cast<std::uint32_t>(j);
        values_[place] = list.values[k];
      }
      weights_.list_of(j) = {};
    }
  }

  // Overwrites `scores` [items].
  void score(std::span<const std::uint32_t> known, std::vector<float>& scores) const {
    std::ranges::fill(scores, 0.0F);
    if (weights_.dense()) {
      for (std::size_t j = 0; j < scores.size(); ++j)
        for (const std::uint32_t i : known) scores[j] += weights_.row(j)[i];
      return;
    }
    for (const std::uint32_t i : known)
      for (std::uint64_t k = offsets_[i]; k < offsets_[i + 1]; ++k) scores[to_[k]] += values_[k];
  }

 private:
  ItemWeights weights_;
  std::vector<std::uint64_t> offsets_;  // by item
  std::vector<std::uint32_t> to_;
  std::vector<float> values_;
};

struct HeldUser {
  std::vector<std::uint32_t> known, wanted;
};

struct HeldUsers {
  Dataset rest;  // all other users
  std::vector<HeldUser> users;
};

// Draws the users held out and their wanted items; nothing if they are too few.
std::optional<HeldUsers> hold_out(const Dataset& users, std::uint64_t seed) {
  std::vector<std::uint32_t> can, rest;
  for (std::uint32_t u = 0; u < users.size(); ++u)
    if (users.labels(u).size() >= kMinItems) can.push_back(u);
  const std::size_t count = std::min(kMaxHeldUsers, can.size() / 5);
  if (count < kMinHeldUsers) return std::nullopt;
  Rng rng(seed, Purpose::kStart, 0, 1);
  std::vector<bool> held(users.size());
  HeldUsers out;
  for (std::size_t k = 0; k < count; ++k) {
    std::swap(can[k], can[k + rng.below(static_cast<std::uint32_t>(can.size() - k))]);
    held[can[k]] = true;
    const auto own = users.labels(can[k]);
    std::vector<std::uint32_t> items(own.begin(), own.end());
    for (std::size_t i = 0; i + 1 < items.size(); ++i)
      std::swap(items[i], items[i + rng.below(static_cast<std::uint32_t>(items.size() - i))]);
    const auto wanted = static_cast<std::ptrdiff_t>(items.size() / kMinItems);
    out.users.push_back({{items.begin() + wanted, items.end()}, {items.begin(), items.begin() + wanted}});
    std::ranges::sort(out.users.back().known);  // sums in the order that they have elsewhere
  }
  for (std::uint32_t u = 0; u < users.size(); ++u)
    if (!held[u]) rest.push_back(u);
  out.rest = copy_rows(users, rest);
  return out;
}

// Working memory of a thread.
struct FitRoom {
  std::vector<float> regressed, mixed, reached;  // by item, by item, by user
  std::array<std::vector<float>, kPowers.size()> paths;
  std::vector<std::uint32_t> met, top;
  std::vector<std::uint8_t> state;  // by item: kUnknown, kKnown, kWanted
};
enum : std::uint8_t { kUnknown, kKnown, kWanted };

// NDCG of the kTop items with the largest scores that the user is not known to have, of equal ones the first.
double ndcg_of(const std::vector<float>& scores, std::size_t wanted, FitRoom& room) {
  room.top.clear();
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  };
  for (std::uint32_t i = 0; i < scores.size(); ++i) {
    if (room.state[i] == kKnown) continue;
    if (room.top.size() == kTop && !(scores[i] > scores[room.top.back()])) continue;
    if (room.top.size() == kTop) room.top.pop_back();
    room.top.insert(std::ranges::upper_bound(room.top, i, before), i);
  }
  double gain = 0, best = 0;
  for (std::size_t r = 0; r < kTop; ++r) {
    const double at = 1 / std::log2(double(r) + 2);
    if (r < wanted) best += at;
    if (r < room.top.size() && room.state[room.top[r]] == kWanted) gain += at;
  }
  return gain / best;
}

double mean_square(const std::vector<float>& values) {
  double sum = 0;
  for (const float x : values) sum += double(x) * x;
  return sum / double(std::max<std::size_t>(1, values.size()));
}

// How the choices do on the users held out.
class FitTrial {
 public:
  FitTrial(const HeldUsers& held, int threads)
      : held_(held),
        threads_(threads),
        graph_(held.rest),
        paths_{Paths(graph_, kPowers[0]), Paths(graph_, kPowers[1])} {
    const std::size_t items = held.rest.label_count();
    rooms_.resize(static_cast<std::size_t>(std::max(1, threads)));
    for (FitRoom& room : rooms_) {
      room.regressed.resize(items);
      room.mixed.resize(items);
      room.reached.resize(held.rest.size());
      for (auto& scores : room.paths) scores.resize(items);
      room.state.resize(items);
    }
  }

  struct Tried {
    std::vector<Gains> of_user;
    std::array<double, kPowers.size()> factor{};  // that gives paths the regression's root mean square
  };
  Tried at(double penalty) {
    Tried tried;
    const Regressed regressed(regression(held_.rest, penalty, threads_));
    tried.factor = factors(regressed);
    tried.of_user.resize(held_.users.size());
    each(held_.users.size(), regressed, [&](std::size_t u, FitRoom& room) {
      const HeldUser& user = held_.users[u];
      for (const std::uint32_t i : user.known) room.state[i] = kKnown;
      for (const std::uint32_t i : user.wanted) room.state[i] = kWanted;
      tried.of_user[u] = gains(user.wanted.size(), tried.factor, room);
      for (const std::uint32_t i : user.known) room.state[i] = kUnknown;
      for (const std::uint32_t i : user.wanted) room.state[i] = kUnknown;
    });
    return tried;
  }

 private:
  template <class Body>
  void each(std::size_t users, const Regressed& regressed, Body&& body) {
    parallel_for(users, threads_, [&](std::size_t u, int thread) {
      FitRoom& room = rooms_[static_cast<std::size_t>(thread)];
      regressed.score(held_.users[u].known, room.regressed);
      for (std::size_t p = 0; p < kPowers.size(); ++p)
        paths_[p].score(held_.users[u].known, room.reached, room.met, room.paths[p]);
      body(u, room);
    });
  }

  std::array<double, kPowers.size()> factors(const Regressed& regressed) {
    constexpr std::size_t kUsers = 200;  // enough for a scale
    std::vector<std::array<double, 1 + kPowers.size()>> squares(std::min(kUsers, held_.users.size()));
    each(squares.size(), regressed, [&](std::size_t u, FitRoom& room) {
      squares[u][0] = mean_square(room.regressed);
      for (std::size_t p = 0; p < kPowers.size(); ++p) squares[u][p + 1] = mean_square(room.paths[p]);
    });
    std::array<double, 1 + kPowers.size()> sums{};
    for (const auto& one : squares)
      for (std::size_t p = 0; p < sums.size(); ++p) sums[p] += one[p];
    std::array<double, kPowers.size()> factors{};
    for (std::size_t p = 0; p < kPowers.size(); ++p)
      factors[p] = sums[p + 1] > 0 ? std::sqrt(sums[0] / sums[p + 1]) : 0.0;
    return factors;
  }

  static Gains gains(std::size_t wanted, const std::array<double, kPowers.size()>& factor, FitRoom& room) {
    Gains gains{};
    gains[0] = ndcg_of(room.regressed, wanted, room);
    for (std::size_t c = 1; c < kChoices; ++c) {
      const std::size_t p = (c - 1) / kShares.size();
      const auto share = static_cast<float>(kShares[(c - 1) % kShares.size()] * factor[p]);
      for (std::size_t i = 0; i < room.mixed.size(); ++i)
        room.mixed[i] = room.regressed[i] + share * room.paths[p][i];
      gains[c] = ndcg_of(room.mixed, wanted, room);
    }
    return gains;
  }

  const HeldUsers& held_;
  int threads_;
  RidgeUsers graph_;
  std::array<Paths, kPowers.size()> paths_;
  std::vector<FitRoom> rooms_;
};

// A choice at a penalty that was tried, with its mean gain.
struct Candidate {
  std::size_t choice = 0;
  double mean = -1;
};

Candidate best_of(const FitTrial::Tried& tried) {
  Candidate best;
  for (std::size_t c = 0; c < kChoices; ++c) {
    double sum = 0;
    for (const Gains& gains : tried.of_user) sum += gains[c];
    const double mean = sum / double(tried.of_user.size());
    if (mean > best.mean) best = {c, mean};
  }
  return best;
}

// Whether a choice is better than the regression alone at the penalty in the middle by more than chance.
bool clearly_better(const FitTrial::Tried& tried, std::size_t choice, const FitTrial::Tried& middle) {
  const auto n = double(tried.of_user.size());
  double sum = 0, squares = 0;
  for (std::size_t u = 0; u < tried.of_user.size(); ++u) {
    const double difference = tried.of_user[u][choice] - middle.of_user[u][0];
    sum += difference;
    squares += difference * difference;
  }
  const double mean = sum / n, variance = std::max(0.0, squares / n - mean * mean);
  return mean > std::sqrt(variance / n);
}

}  // namespace

ItemFit choose_item_fit(const Dataset& users, double penalty, std::uint64_t seed, int threads) {
  const std::optional<HeldUsers> held = hold_out(users, seed);
  if (!held) return {penalty};
  FitTrial trial(*held, threads);
  const FitTrial::Tried middle = trial.at(penalty);
  FitTrial::Tried best = middle;
  Candidate chosen = best_of(middle);
  double at = penalty;
  for (const double factor : {1 / kPenaltyStep, kPenaltyStep}) {
    bool better = false;
    for (int step = 1; step <= kPenaltySteps; ++step) {
      const double next = penalty * std::pow(factor, step);
      FitTrial::Tried tried = trial.at(next);
      const Candidate candidate = best_of(tried);
      if (candidate.mean <= chosen.mean) break;
      chosen = candidate, at = next, best = std::move(tried), better = true;
    }
    if (better) break;  // the gain has one maximum
  }
  if (!clearly_better(best, chosen.choice, middle)) return {penalty};
  if (chosen.choice == 0) return {at};
  const std::size_t p = (chosen.choice - 1) / kShares.size();
  return {at, kShares[(chosen.choice - 1) % kShares.size()] * best.factor[p], kPowers[p].from, kPowers[p].to};
}

ItemWeights item_weights(const Dataset& users, const ItemFit& fit, int threads) {
  ItemWeights weights = regression(users, fit.penalty, threads);
  if (fit.paths != 0)
    add_paths(users, fit.paths, {fit.from_power, fit.to_power}, kMaxPaths, threads, weights);
  return weights;
}

double bytes_of_item_fit(std::size_t users, std::size_t items, double entries, double pairs, int threads) {
  constexpr double kEntry = sizeof(std::uint32_t) + sizeof(float);
  const auto all = double(items), of_users = double(users);
  const bool dense = items <= kMaxRidgeItems;
  const double regression = dense ? bytes_of_ridge(items)
                            : by_users(users, items)
                                ? bytes_of_ridge_by_users(users, items, kByUsers, threads)
                                : bytes_of_sparse_ridge(items, pairs, kCooccurrence, threads);
  const double kept = std::min(all * double(by_users(users, items) ? kByUsers : kCooccurrence), pairs);
  // Turned over for a trial, or with paths added.
  const double lists = dense ? 0 : (kept + std::max(kept, std::min(all * double(kMaxPaths), pairs))) * kEntry;
  const double rest =
      entries * (2 * sizeof(std::uint32_t) + sizeof(float)) + of_users * 2 * sizeof(std::uint64_t);
  const double inverted = entries * sizeof(std::uint32_t) + all * sizeof(std::uint64_t);
  const double rooms = std::max(1, threads) * (all * (2 + kPowers.size()) + of_users * 2) * sizeof(float);
  const double gains = double(3 * kMaxHeldUsers * sizeof(Gains));
  return std::max(regression, lists) + rest + 2 * inverted + rooms + gains;
}

}  // namespace slide
