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
constexpr int kPenaltySteps = 2;                                              // to either side
constexpr std::array kPowers = {PathPowers{0.7, 0.3}, PathPowers{0.5, 0.5}};  // pairs (a, b) that are tried
// Root mean square of the scores by paths over that of the regression's scores.
constexpr std::array kShares = {0.1, 0.3, 1.0, 3.0};
// The choices at one penalty: number 0 is the regression alone, the others add paths.
constexpr std::size_t kChoices = 1 + kPowers.size() * kShares.size();
using Gains = std::array<double, kChoices>;  // NDCG of a user

struct PathChoice {
  std::size_t power;  // index in kPowers
  double share;       // of kShares
};
PathChoice path_choice(std::size_t choice) {
  return {(choice - 1) / kShares.size(), kShares[(choice - 1) % kShares.size()]};
}

// Whether the regression goes through the matrix of the users: too many items for a matrix of items, few
// users.
bool by_users(std::size_t users, std::size_t items) {
  return items > kMaxRidgeItems && items <= kMaxItemsByUsers && users <= kMaxRidgeItems;
}

// The regression (item_ridge.h), by the method that suits the numbers of users and items.
ItemWeights regression(const Dataset& users, double penalty, int threads) {
  const std::size_t items = users.label_count();
  if (by_users(users.size(), items)) return ridge_by_users(users, penalty, kByUsers, threads);
  return items <= kMaxRidgeItems ? ridge_of_items(users, penalty, threads)
                                 : ridge_of_cooccurring(users, penalty, kCooccurrence, threads);
}

// Scores items by a regression. Lists of weights are transposed: here an item lists the items that it has
// weights for.
class Regressed {
 public:
  // Transposes by a counting sort; frees each list once it is read.
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

  // scores[j] = sum over the known items i of the weight of i for j; overwrites `scores` [items].
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

// A held-out user: given items, and items to predict.
struct HeldUser {
  std::vector<std::uint32_t> known, wanted;
};

struct HeldUsers {
  Dataset rest;  // all other users
  std::vector<HeldUser> users;
};

// Draws the held-out users, and for each a fifth of the items as wanted items; nullopt if the users are too
// few. Both draws are partial Fisher-Yates shuffles.
std::optional<HeldUsers> hold_out(const Dataset& users, std::uint64_t seed) {
  std::vector<std::uint32_t> eligible, rest;
  for (std::uint32_t u = 0; u < users.size(); ++u)
    if (users.labels(u).size() >= kMinItems) eligible.push_back(u);
  const std::size_t count = std::min(kMaxHeldUsers, eligible.size() / 5);
  if (count < kMinHeldUsers) return std::nullopt;
  Rng rng(seed, Purpose::kStart, 0, 1);
  std::vector<bool> held(users.size());
  HeldUsers out;
  for (std::size_t k = 0; k < count; ++k) {
    std::swap(eligible[k], eligible[k + rng.below(static_cast<std::uint32_t>(eligible.size() - k))]);
    held[eligible[k]] = true;
    const auto own = users.labels(eligible[k]);
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
struct FitScratch {
  std::vector<float> regressed, mixed;                   // scores by the regression, by a mix; by item
  std::array<std::vector<float>, kPowers.size()> paths;  // scores by paths, by item
  std::vector<float> reached;                            // Paths::score(), by user
  std::vector<std::uint32_t> met;                        // Paths::score()
  std::vector<std::uint32_t> top;                        // items of the largest scores
  std::vector<std::uint8_t> state;                       // by item: kUnknown, kKnown, kWanted
};
enum : std::uint8_t { kUnknown, kKnown, kWanted };

// NDCG of the kTop items with the largest scores, ties by lower item, among the items that are not given
// (kKnown).
double ndcg_of(const std::vector<float>& scores, std::size_t wanted, FitScratch& scratch) {
  scratch.top.clear();
  const auto before = [&](std::uint32_t a, std::uint32_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  };
  for (std::uint32_t i = 0; i < scores.size(); ++i) {
    if (scratch.state[i] == kKnown) continue;
    if (scratch.top.size() == kTop && !(scores[i] > scores[scratch.top.back()])) continue;
    if (scratch.top.size() == kTop) scratch.top.pop_back();
    scratch.top.insert(std::ranges::upper_bound(scratch.top, i, before), i);
  }
  double gain = 0, best = 0;
  for (std::size_t r = 0; r < kTop; ++r) {
    const double discount = 1 / std::log2(double(r) + 2);
    if (r < wanted) best += discount;
    if (r < scratch.top.size() && scratch.state[scratch.top[r]] == kWanted) gain += discount;
  }
  return gain / best;
}

double mean_square(const std::vector<float>& values) {
  double sum = 0;
  for (const float x : values) sum += double(x) * x;
  return sum / double(std::max<std::size_t>(1, values.size()));
}

// Evaluates the choices on the held-out users.
class FitTrial {
 public:
  FitTrial(const HeldUsers& held, int threads)
      : held_(held),
        threads_(threads),
        graph_(held.rest),
        paths_{Paths(graph_, kPowers[0]), Paths(graph_, kPowers[1])} {
    const std::size_t items = held.rest.label_count();
    scratch_.resize(static_cast<std::size_t>(std::max(1, threads)));
    for (FitScratch& scratch : scratch_) {
      scratch.regressed.resize(items);
      scratch.mixed.resize(items);
      scratch.reached.resize(held.rest.size());
      for (auto& scores : scratch.paths) scores.resize(items);
      scratch.state.resize(items);
    }
  }

  // Results of all choices at one penalty.
  struct Result {
    std::vector<Gains> of_user;
    std::array<double, kPowers.size()> factor{};  // that gives paths the regression's root mean square
  };
  // Regresses all other users with `penalty`, then computes the NDCG of each held-out user by each choice.
  Result evaluate(double penalty) {
    Result result;
    const Regressed regressed(regression(held_.rest, penalty, threads_));
    result.factor = path_factors(regressed);
    result.of_user.resize(held_.users.size());
    score_users(held_.users.size(), regressed, [&](std::size_t u, FitScratch& scratch) {
      const HeldUser& user = held_.users[u];
      for (const std::uint32_t i : user.known) scratch.state[i] = kKnown;
      for (const std::uint32_t i : user.wanted) scratch.state[i] = kWanted;
      result.of_user[u] = gains_of(user.wanted.size(), result.factor, scratch);
      for (const std::uint32_t i : user.known) scratch.state[i] = kUnknown;
      for (const std::uint32_t i : user.wanted) scratch.state[i] = kUnknown;
    });
    return result;
  }

 private:
  // Scores all items for the first `users` held-out users, by the regression and by paths, and calls
  // body(user, scratch) with the scores.
  template <class Body>
  void score_users(std::size_t users, const Regressed& regressed, Body&& body) {
    parallel_for(users, threads_, [&](std::size_t u, int thread) {
      FitScratch& scratch = scratch_[static_cast<std::size_t>(thread)];
      regressed.score(held_.users[u].known, scratch.regressed);
      for (std::size_t p = 0; p < kPowers.size(); ++p)
        paths_[p].score(held_.users[u].known, scratch.reached, scratch.met, scratch.paths[p]);
      body(u, scratch);
    });
  }

  // Result::factor, by the scores of some users.
  std::array<double, kPowers.size()> path_factors(const Regressed& regressed) {
    constexpr std::size_t kUsers = 200;  // enough for a scale
    // By user: mean squares of the regression's scores, then of those by paths.
    std::vector<std::array<double, 1 + kPowers.size()>> squares(std::min(kUsers, held_.users.size()));
    score_users(squares.size(), regressed, [&](std::size_t u, FitScratch& scratch) {
      squares[u][0] = mean_square(scratch.regressed);
      for (std::size_t p = 0; p < kPowers.size(); ++p) squares[u][p + 1] = mean_square(scratch.paths[p]);
    });
    std::array<double, 1 + kPowers.size()> sums{};
    for (const auto& one : squares)
      for (std::size_t p = 0; p < sums.size(); ++p) sums[p] += one[p];
    std::array<double, kPowers.size()> factors{};
    for (std::size_t p = 0; p < kPowers.size(); ++p)
      factors[p] = sums[p + 1] > 0 ? std::sqrt(sums[0] / sums[p + 1]) : 0.0;
    return factors;
  }

  // NDCG of one user by each choice, from the scores in `scratch`.
  static Gains gains_of(std::size_t wanted, const std::array<double, kPowers.size()>& factor,
                        FitScratch& scratch) {
    Gains gains{};
    gains[0] = ndcg_of(scratch.regressed, wanted, scratch);
    for (std::size_t c = 1; c < kChoices; ++c) {
      const PathChoice paths = path_choice(c);
      const auto share = static_cast<float>(paths.share * factor[paths.power]);
      for (std::size_t i = 0; i < scratch.mixed.size(); ++i)
        scratch.mixed[i] = scratch.regressed[i] + share * scratch.paths[paths.power][i];
      gains[c] = ndcg_of(scratch.mixed, wanted, scratch);
    }
    return gains;
  }

  const HeldUsers& held_;
  int threads_;
  RidgeUsers graph_;
  std::array<Paths, kPowers.size()> paths_;
  std::vector<FitScratch> scratch_;
};

// The best choice at a penalty, with its mean NDCG.
struct Candidate {
  std::size_t choice = 0;
  double mean = -1;
};

// The choice of highest mean NDCG over the held-out users; ties to the first.
Candidate best_of(const FitTrial::Result& result) {
  Candidate best;
  for (std::size_t c = 0; c < kChoices; ++c) {
    double sum = 0;
    for (const Gains& gains : result.of_user) sum += gains[c];
    const double mean = sum / double(result.of_user.size());
    if (mean > best.mean) best = {c, mean};
  }
  return best;
}

// Whether a choice is better than the regression alone at the first penalty by more than the standard error
// of the paired difference.
bool clearly_better(const FitTrial::Result& result, std::size_t choice, const FitTrial::Result& at_first) {
  const auto n = double(result.of_user.size());
  double sum = 0, squares = 0;
  for (std::size_t u = 0; u < result.of_user.size(); ++u) {
    const double difference = result.of_user[u][choice] - at_first.of_user[u][0];
    sum += difference;
    squares += difference * difference;
  }
  const double mean = sum / n, variance = std::max(0.0, squares / n - mean * mean);
  return mean > std::sqrt(variance / n);
}

}  // namespace

// Evaluates the given penalty, then smaller or larger ones while the mean NDCG rises.
ItemFit choose_item_fit(const Dataset& users, double penalty, std::uint64_t seed, int threads) {
  const std::optional<HeldUsers> held = hold_out(users, seed);
  if (!held) return {penalty};
  FitTrial trial(*held, threads);
  const FitTrial::Result at_first = trial.evaluate(penalty);
  FitTrial::Result best = at_first;
  Candidate chosen = best_of(at_first);
  double best_penalty = penalty;
  // The gain has one maximum: smaller penalties while they are better, else larger ones.
  for (const double factor : {1 / kPenaltyStep, kPenaltyStep}) {
    bool better = false;
    for (int step = 1; step <= kPenaltySteps; ++step) {
      const double next = penalty * std::pow(factor, step);
      FitTrial::Result result = trial.evaluate(next);
      const Candidate candidate = best_of(result);
      if (candidate.mean <= chosen.mean) break;
      chosen = candidate, best_penalty = next, best = std::move(result), better = true;
    }
    if (better) break;
  }
  if (!clearly_better(best, chosen.choice, at_first)) return {penalty};
  if (chosen.choice == 0) return {best_penalty};
  const PathChoice paths = path_choice(chosen.choice);
  const PathPowers& powers = kPowers[paths.power];
  return {best_penalty, paths.share * best.factor[paths.power], powers.from, powers.to};
}

ItemWeights item_weights(const Dataset& users, const ItemFit& fit, int threads) {
  ItemWeights weights = regression(users, fit.penalty, threads);
  if (fit.paths != 0)
    add_paths(users, fit.paths, {fit.from_power, fit.to_power}, kMaxPaths, threads, weights);
  return weights;
}

// Beside the regression or its lists: the data set without the held-out users (`rest`), two indices of the
// users by item (of the paths and of the regression), working memory by thread (`rooms`), and the gains of
// three results.
double bytes_of_item_fit(std::size_t users, std::size_t items, double entries, double pairs, int threads) {
  constexpr double kEntry = sizeof(std::uint32_t) + sizeof(float);
  const auto all = double(items), of_users = double(users);
  const bool dense = items <= kMaxRidgeItems;
  const double regression = dense ? bytes_of_ridge(items)
                            : by_users(users, items)
                                ? bytes_of_ridge_by_users(users, items, kByUsers, threads)
                                : bytes_of_sparse_ridge(items, pairs, kCooccurrence, threads);
  const double kept = std::min(all * double(by_users(users, items) ? kByUsers : kCooccurrence), pairs);
  // Transposed for a trial, or with paths added.
  const double lists = dense ? 0 : (kept + std::max(kept, std::min(all * double(kMaxPaths), pairs))) * kEntry;
  const double rest =
      entries * (2 * sizeof(std::uint32_t) + sizeof(float)) + of_users * 2 * sizeof(std::uint64_t);
  const double inverted = entries * sizeof(std::uint32_t) + all * sizeof(std::uint64_t);
  const double rooms = std::max(1, threads) * (all * (2 + kPowers.size()) + of_users * 2) * sizeof(float);
  const double gains = double(3 * kMaxHeldUsers * sizeof(Gains));
  return std::max(regression, lists) + rest + 2 * inverted + rooms + gains;
}

}  // namespace slide
