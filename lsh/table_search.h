// The search policy: a few samples of a block read a bucket of every table, a single sample also that with
// the least certain bit of its fingerprint flipped (multi-probe LSH, Lv et al. 2007). Neurons in most
// buckets, and the longest rows of the layer (long_rows.h), are scored for all of these samples; the best by
// score are the answer. Const; thread-safe with one scratch per thread.
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

// As find_candidates(). Without rows that score (QueryBlock::rows), the neurons in most buckets are the
// answer. O(entries of the read buckets + dim * lanes * scored neurons), at most the larger of
// 4 * wanted and 1,024 scored neurons.
void find_search(const Search& search, const QueryInput& input, std::size_t wanted);

// project_queries() hashes all samples of a block; find_for_sample() then replaces `out` by up to `wanted`
// distinct ids for one of them: those in most buckets, without the longest rows.
void project_queries(const HashFunctions& functions, const QueryBlock& block, QueryScratch& scratch);
void find_for_sample(const Search& search, std::size_t sample, std::size_t lanes, std::size_t wanted,
                     std::vector<std::uint32_t>& out);

}  // namespace slide::lsh
