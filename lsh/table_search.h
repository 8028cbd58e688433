// Search policy of hash tables: finds candidates for a block by lookup, then by score.
// 1. A few samples of the block look up their bucket in every table. A block of a single sample also looks up
//    the bucket with the least certain bit of its fingerprint flipped (multi-probe LSH, Lv et al. 2007).
// 2. The neurons that occur in the largest number of buckets, and the longest rows of the layer
//    (long_rows.h), are scored for all of these samples.
// 3. The neurons of highest score are returned.
// Const; thread-safe with one scratch per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lsh/table_query.h"

namespace slide::lsh {

// Allocates `scratch` for the functions below, for up to size.wanted neurons and blocks of size.lanes
// columns.
void prepare_search(QueryScratch& scratch, const HashConfig& config, const HashFunctions& functions,
                    const SearchSize& size);
double search_scratch_bytes(const HashConfig& config, std::size_t dim, const SearchSize& size);

// Implements find_candidates() for this policy. Without rows to score by (QueryBlock::rows), returns the
// neurons of most occurrences. O(entries of the read buckets + dim * lanes * scored neurons), at most the
// larger of 4 * wanted and 1,024 scored neurons.
void find_search(const Search& search, const QueryInput& input, std::size_t wanted);

// project_queries() hashes all samples of a block; find_for_sample() then replaces `out` by up to `wanted`
// distinct ids for one of them, by number of occurrences; without scores and the first `scored` of the
// longest rows.
void project_queries(const HashFunctions& functions, const QueryBlock& block, QueryScratch& scratch);
void find_for_sample(const Search& search, std::size_t sample, std::size_t lanes, std::size_t wanted,
                     std::size_t scored, std::vector<std::uint32_t>& out);

}  // namespace slide::lsh
