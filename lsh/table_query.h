// What a query of the tables is given: what it asks about, where it looks, and where its answer goes. Plain
// data.
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

// What is asked about: a block of dense vectors, or one sparse vector when block.xt is null.
struct QueryInput {
  QueryBlock block;
  std::span<const std::uint32_t> ids;
  std::span<const float> values;

  std::size_t lanes() const { return block.xt != nullptr ? block.lanes : 1; }
  std::size_t samples() const { return block.xt != nullptr ? block.samples : 1; }
};

// Where a query looks, what it may use and where its answer goes.
struct Search {
  const HashConfig& config;
  const HashFunctions& functions;
  const HashTables& tables;
  QueryScratch& scratch;
  IdSet& seen;
  std::vector<std::uint32_t>& out;
  const LongRows* longest = nullptr;  // of the search policy
};

// The largest query.
struct SearchSize {
  std::size_t neurons = 0;
  std::size_t lanes = 0;
  std::size_t wanted = 0;  // of the search policy: neurons that it is asked for
};

}  // namespace slide::lsh
