// Arguments of a query of the tables: input, tables, working memory and output. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lsh/hash_functions.h"
#include "lsh/hash_tables.h"
#include "lsh/id_set.h"
#include "lsh/long_rows.h"
#include "lsh/query.h"

namespace slide::lsh {

// The input: a block of dense vectors, or one sparse vector (ids, values) when block.xt is null.
struct QueryInput {
  QueryBlock block;
  std::span<const std::uint32_t> ids;
  std::span<const float> values;

  std::size_t lanes() const { return block.xt != nullptr ? block.lanes : 1; }
  std::size_t samples() const { return block.xt != nullptr ? block.samples : 1; }
};

// Tables, working memory and output of a query. `out` and `seen` receive the found ids.
struct Search {
  const HashConfig& config;
  const HashFunctions& functions;
  const HashTables& tables;
  QueryScratch& scratch;
  IdSet& seen;
  std::vector<std::uint32_t>& out;
  const LongRows* longest = nullptr;  // search policy
};

// Limits of the queries for which a scratch is allocated.
struct SearchSize {
  std::size_t neurons = 0;
  std::size_t lanes = 0;
  std::size_t wanted = 0;  // search policy: max neurons to find
};

}  // namespace slide::lsh
