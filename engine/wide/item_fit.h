// Item-item weights: item regression (item_ridge.h) plus item-user-item paths, in the proportion that best
// predicts the items of held-out users.
//
// The path weight of item i for item j is
//   (sum over their common users u of 1 / (number of items of u)) / (d_i^a d_j^b)
// with d the number of users of an item: a filter of the graph of users and items that keeps its smooth
// signals (Shen et al., "How Powerful is Graph Convolution for Recommendation?", 2021, section 4; exponents
// of degrees as in Fu et al., "Revisiting Neighborhood-based Link Prediction for Collaborative Filtering",
// 2022, section 3). Paths add up the evidence of all common users; the regression discounts what other items
// explain.
//
// Pure functions; results do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "datasets/rows/dataset.h"
#include "engine/wide/item_ridge.h"

namespace slide {

struct ItemFit {
  double penalty = 0;     // of the regression
  double paths = 0;       // factor of the weights of paths, 0: none
  double from_power = 0;  // a: exponent of the number of users of the path's first item
  double to_power = 0;    // b: of its last item
};

// Chooses penalty and path weights by NDCG@20 on up to kMaxHeldUsers users, held out from the regression:
// four fifths of the items of a user are given, the others are to be predicted. Tries penalties from
// `penalty` / 16 to 16 * `penalty`, and paths of several weights. A choice other than {penalty} must be
// better by more than the standard error of the difference. Returns {penalty} if fewer than kMinHeldUsers
// users can be held out; a fifth of the users with at least five items can. O(penalties tried * (cost of a
// regression + held-out users * entries)).
ItemFit choose_item_fit(const Dataset& users, double penalty, std::uint64_t seed, int threads);
inline constexpr std::size_t kMaxHeldUsers = 2000;
inline constexpr std::size_t kMinHeldUsers = 100;

// Weights of the regression plus weights of paths; where the regression has lists of weights, only the
// kMaxPaths largest path weights of each item.
ItemWeights item_weights(const Dataset& users, const ItemFit& fit, int threads);
inline constexpr std::size_t kMaxPaths = 512;

// Peak memory of both functions in bytes, result included. `entries`: items of all users together. `pairs`:
// sum over users of the squared number of items.
double bytes_of_item_fit(std::size_t users, std::size_t items, double entries, double pairs, int threads);

}  // namespace slide
