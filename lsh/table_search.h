// The search policy: a few samples of a block look into two buckets of every table, their own and the one
// that flipping its least certain bit reaches (Lv et al. 2007, "Multi-Probe LSH"). Neurons found in most
// buckets are scored for all of these samples, and so are the longest rows of the layer (long_rows.h); the
// best are the answer. Const; thread-safe with one scratch a thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lsh/table_query.h"

namespace slide::lsh {

// Sizes `scratch` for find_search() and the two below, of up to `wanted` neurons and blocks of `lanes`.
void prepare_search(QueryScratch& scratch, const HashConfig& config, const HashFunctions& functions,
                    const SearchSize& size);
double search_scratch_bytes(const HashConfig& config, std::size_t dim, const SearchSize& size);

// As find_candidates(). Without rows to score by, what is found in most buckets is the answer.
void find_search(const Search& search, const QueryInput& input, std::size_t wanted);

// Hashes all samples of a block; then, for one of them, what is found in most buckets, up to `wanted`
// distinct ids without the longest rows, replaces `out`.
void project_queries(const HashFunctions& functions, const QueryBlock& block, QueryScratch& scratch);
void find_for_sample(const Search& search, std::size_t sample, std::size_t lanes, std::size_t wanted,
                     std::vector<std::uint32_t>& out);

}  // namespace slide::lsh
