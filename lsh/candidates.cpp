#include "lsh/candidates.h"

#include <algorithm>
#include <numeric>

#include "engine/base/prefetch.h"
#include "lsh/table_search.h"

namespace slide::lsh {

namespace {

constexpr std::size_t kFirstGroup = 2;    // tables hashed together: the first two often suffice,
constexpr std::size_t kLargestGroup = 8;  // later groups double

// fingerprints[i*lanes + b] for tables[i].
void hash(const Search& search, const QueryInput& input, std::span<const std::uint32_t> tables,
          std::uint32_t* fingerprints) {
  if (input.block.xt != nullptr) {
    search.functions.hash_block(input.block, tables, search.scratch.hash, fingerprints);
  } else {
    search.functions.hash_sparse(input.ids, input.values, tables, search.scratch.hash, fingerprints);
  }
}

// Equal share of `left` for the next of `takers` samples.
std::size_t fair_share(std::size_t left, std::size_t takers) {
  return (left + takers - 1) / takers;
}

// Each sample takes its share from its bucket of one table, starting at a random entry. Returns the number of
// ids taken.
std::size_t take_from_table(const Search& search, std::size_t table, const std::uint32_t* fingerprints,
                            std::size_t samples, std::size_t wanted, Rng& rng) {
  std::uint32_t* starts = search.scratch.starts.data();
  for (std::size_t b = 0; b < samples; ++b) search.tables.prefetch(table, fingerprints[b]);
  for (std::size_t b = 0; b < samples; ++b) {
    const auto bucket = search.tables.bucket(table, fingerprints[b]);
    starts[b] = bucket.empty() ? 0 : rng.below(static_cast<std::uint32_t>(bucket.size()));
    prefetch(bucket.data() + starts[b]);
  }
  std::size_t left = wanted;
  for (std::size_t b = 0; b < samples && left > 0; ++b) {
    const auto bucket = search.tables.bucket(table, fingerprints[b]);
    std::size_t share = fair_share(left, samples - b);
    std::size_t place = starts[b];
    for (std::size_t i = 0; i < bucket.size() && share > 0; ++i) {
      const std::uint32_t id = bucket[place];
      if (++place == bucket.size()) place = 0;
      if (!search.seen.insert(id)) continue;
      search.out.push_back(id);
      --share;
      --left;
    }
  }
  return wanted - left;
}

// order[begin, begin + count) = the next `count` tables of a random permutation (Fisher-Yates).
void draw_tables(std::vector<std::uint32_t>& order, std::size_t begin, std::size_t count, Rng& rng) {
  for (std::size_t i = begin; i < begin + count; ++i) {
    std::swap(order[i], order[i + rng.below(static_cast<std::uint32_t>(order.size() - i))]);
  }
}

// Visits the tables in random order until `wanted` ids are found. Hashes 2, then 4, then 8 tables at a time:
// the first tables often suffice.
void find_vanilla(const Search& search, const QueryInput& input, std::size_t wanted, Rng& rng) {
  std::vector<std::uint32_t>& order = search.scratch.table_order;
  std::iota(order.begin(), order.end(), 0U);
  std::size_t group = kFirstGroup;
  for (std::size_t begin = 0; begin < order.size() && wanted > 0; begin += group) {
    group = std::min(begin == 0 ? kFirstGroup : std::min(2 * group, kLargestGroup), order.size() - begin);
    draw_tables(order, begin, group, rng);
    std::uint32_t* fingerprints = search.scratch.fingerprints.data();
    hash(search, input, std::span(order).subspan(begin, group), fingerprints);
    for (std::size_t i = 0; i < group && wanted > 0; ++i) {
      const std::uint32_t* prints = fingerprints + i * input.lanes();
      wanted -= take_from_table(search, order[begin + i], prints, input.samples(), wanted, rng);
    }
  }
}

// Hashes the input in all tables, in ascending order.
void hash_all(const Search& search, const QueryInput& input) {
  std::vector<std::uint32_t>& order = search.scratch.table_order;
  std::iota(order.begin(), order.end(), 0U);
  hash(search, input, order, search.scratch.fingerprints.data());
}

// Calls visit(id) for each entry of the buckets of one sample, all tables.
template <class F>
void for_each_entry(const Search& search, const QueryInput& input, std::size_t sample, F&& visit) {
  const std::uint32_t* prints = search.scratch.fingerprints.data() + sample;
  const std::size_t lanes = input.lanes();
  for (std::size_t table = 0; table < search.tables.tables(); ++table) {
    if (table + 1 < search.tables.tables()) search.tables.prefetch(table + 1, prints[(table + 1) * lanes]);
    for (const std::uint32_t id : search.tables.bucket(table, prints[table * lanes])) {
      if (!visit(id)) return;
    }
  }
}

// counts[id] = number of (sample, table) buckets with the id. Returns the number of ids in scratch.counted.
std::size_t count_all(const Search& search, const QueryInput& input) {
  std::uint32_t* counts = search.scratch.counts.data();
  std::uint32_t* counted = search.scratch.counted.data();
  std::size_t size = 0;
  for (std::size_t b = 0; b < input.samples(); ++b) {
    for_each_entry(search, input, b, [&](std::uint32_t id) {
      counted[size] = id;  // overwritten by the next if it was counted before
      size += counts[id]++ == 0 ? 1 : 0;
      return true;
    });
  }
  return size;
}

void reset_counts(QueryScratch& scratch, std::size_t counted) {
  for (std::size_t i = 0; i < counted; ++i) scratch.counts[scratch.counted[i]] = 0;
}

// The largest count reached by at least `wanted` counted ids that are not in `seen`; 1 if there is none.
std::uint32_t cutoff_count(const Search& search, std::size_t counted, std::size_t wanted) {
  const QueryScratch& scratch = search.scratch;
  std::vector<std::uint32_t>& histogram = search.scratch.histogram;
  std::fill(histogram.begin(), histogram.end(), 0U);
  for (std::size_t i = 0; i < counted; ++i) {
    const std::uint32_t id = scratch.counted[i];
    if (!search.seen.contains(id)) ++histogram[scratch.counts[id]];
  }
  std::size_t reached = 0;
  for (std::size_t count = histogram.size() - 1; count > 1; --count) {
    reached += histogram[count];
    if (reached >= wanted) return static_cast<std::uint32_t>(count);
  }
  return 1;
}

// Counts all ids in the buckets of all samples, then selects the `wanted` ids of largest count that are not
// in `seen`, ties to the lower id.
void find_topk(const Search& search, const QueryInput& input, std::size_t wanted) {
  QueryScratch& scratch = search.scratch;
  hash_all(search, input);
  const std::size_t counted = count_all(search, input);
  const std::uint32_t cutoff = cutoff_count(search, counted, wanted);
  scratch.ranked.clear();
  for (std::size_t i = 0; i < counted; ++i) {
    const std::uint32_t id = scratch.counted[i];
    if (scratch.counts[id] < cutoff || search.seen.contains(id)) continue;
    scratch.ranked.push_back(std::uint64_t{UINT32_MAX - scratch.counts[id]} << 32 | id);
  }
  const auto end =
      scratch.ranked.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, scratch.ranked.size()));
  std::nth_element(scratch.ranked.begin(), end, scratch.ranked.end());
  std::sort(scratch.ranked.begin(), end);
  for (auto key = scratch.ranked.begin(); key != end; ++key) {
    const auto id = static_cast<std::uint32_t>(*key);
    search.seen.insert(id);
    search.out.push_back(id);
  }
  reset_counts(scratch, counted);
}

// One sample takes up to `share` ids that are in at least `threshold` of its buckets.
std::size_t take_frequent(const Search& search, const QueryInput& input, std::size_t sample,
                          std::size_t share) {
  QueryScratch& scratch = search.scratch;
  std::size_t taken = 0, counted = 0;
  for_each_entry(search, input, sample, [&](std::uint32_t id) {
    const std::uint32_t count = ++scratch.counts[id];
    scratch.counted[counted] = id;
    counted += count == 1 ? 1 : 0;
    if (count == search.config.threshold && search.seen.insert(id)) {
      search.out.push_back(id);
      ++taken;
    }
    return taken < share;
  });
  reset_counts(scratch, counted);
  return taken;
}

// First by equal shares; then the rest from the samples in order.
void find_threshold(const Search& search, const QueryInput& input, std::size_t wanted) {
  hash_all(search, input);
  const std::size_t samples = input.samples();
  bool cut_short = false;
  for (std::size_t b = 0; b < samples && wanted > 0; ++b) {
    const std::size_t share = fair_share(wanted, samples - b);
    const std::size_t taken = take_frequent(search, input, b, share);
    cut_short = cut_short || taken == share;
    wanted -= taken;
  }
  for (std::size_t b = 0; b < samples && wanted > 0 && cut_short; ++b) {
    wanted -= take_frequent(search, input, b, wanted);
  }
}

}  // namespace

// vanilla hashes up to kLargestGroup tables together; the counting policies hash all tables.
void prepare_query(QueryScratch& scratch, const HashConfig& config, const HashFunctions& functions,
                   const SearchSize& size) {
  const std::size_t lanes = size.lanes;
  scratch.table_order.resize(functions.tables());
  if (config.candidates == CandidatePolicy::kSearch) return prepare_search(scratch, config, functions, size);
  functions.prepare(scratch.hash, lanes);
  const bool counts = config.candidates != CandidatePolicy::kVanilla;
  const std::size_t group = counts ? functions.tables() : std::min(kLargestGroup, functions.tables());
  grow(scratch.fingerprints, group * lanes);
  grow(scratch.starts, lanes);
  if (!counts) return;
  grow(scratch.counts, size.neurons);
  grow(scratch.counted, size.neurons + 1);
  grow(scratch.histogram, functions.tables() * lanes + 1);
  scratch.ranked.reserve(size.neurons);
}

void find_candidates(const Search& search, const QueryInput& input, std::size_t wanted, Rng& rng) {
  if (wanted == 0 || input.samples() == 0) return;
  switch (search.config.candidates) {
    case CandidatePolicy::kVanilla:
      find_vanilla(search, input, wanted, rng);
      break;
    case CandidatePolicy::kTopk:
      find_topk(search, input, wanted);
      break;
    case CandidatePolicy::kThreshold:
      find_threshold(search, input, wanted);
      break;
    case CandidatePolicy::kSearch:
      find_search(search, input, wanted);
      break;
  }
}

}  // namespace slide::lsh
