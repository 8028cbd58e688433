// The candidate policies: which of the neurons in the buckets of a query become active (Chen et al. 2020,
// "SLIDE: In Defense of Smart Algorithms over Hardware Acceleration", section 4: vanilla, topk, hard
// thresholding). Const; thread-safe with one scratch a thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/rng.h"
#include "lsh/table_query.h"

namespace slide::lsh {

// Sizes `scratch` for queries of up to that size under the policy of `config`.
void prepare_query(QueryScratch& scratch, const HashConfig& config, const HashFunctions& functions,
                   const SearchSize& size);

// Appends up to `wanted` ids that are not in `seen` to `out`, by the policy of search.config; puts them in
// `seen`.
void find_candidates(const Search& search, const QueryInput& input, std::size_t wanted, Rng& rng);

}  // namespace slide::lsh
