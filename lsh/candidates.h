// The candidate policies: which neurons in the buckets of a query become active. vanilla, topk and threshold
// are the policies of Chen et al. 2020, "SLIDE: In Defense of Smart Algorithms over Hardware Acceleration",
// section 4; search is in table_search.h. Const; thread-safe with one scratch per thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/rng.h"
#include "lsh/table_query.h"

namespace slide::lsh {

// Allocates `scratch` for queries up to `size` under the policy of `config`; no later query allocates.
void prepare_query(QueryScratch& scratch, const HashConfig& config, const HashFunctions& functions,
                   const SearchSize& size);

// Appends up to `wanted` distinct ids, none of them in search.seen, to search.out, by the policy of
// search.config; inserts them into search.seen. `rng` orders tables. Linear in the entries of the buckets
// read.
void find_candidates(const Search& search, const QueryInput& input, std::size_t wanted, Rng& rng);

}  // namespace slide::lsh
