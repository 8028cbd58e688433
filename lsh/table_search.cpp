#include "lsh/table_search.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>

#include "engine/base/prefetch.h"
#include "engine/kernels/kernels.h"

namespace slide::lsh {

namespace {

// Buckets of a table that a single sample reads; each sample of a block reads one.
constexpr std::size_t kProbed = 2;
// Neurons from buckets that are scored: kScoredOf for each wanted one, but at least kMinScored.
constexpr std::size_t kScoredOf = 2, kMinScored = 512;
// Neurons of a single bucket are taken only until there are so many.
constexpr std::size_t kMinFound = 32;
constexpr std::uint16_t kExcluded = 1U << 15;  // min count of an id that is no candidate
// Prefetch distances, in buckets: of ids; of counts by id, where these exceed the second-level cache.
constexpr std::size_t kPrefetched = 8, kCountsAhead = 2;
constexpr std::size_t kFarCounts = std::size_t{1} << 17;
constexpr std::size_t kLinesOfBucket = 4;  // max cache lines of a bucket to prefetch
constexpr std::uint32_t kClassShift = 20;  // distances with equal upper bits are of one class

std::size_t max_from_buckets(std::size_t neurons, std::size_t wanted) {
  return std::min(neurons, std::max(kScoredOf * wanted, kMinScored));
}

// Max number of scored neurons.
std::size_t scored_of(const SearchSize& size) {
  const std::size_t from_buckets = max_from_buckets(size.neurons, size.wanted);
  return from_buckets + std::min(from_buckets, LongRows::kInTraining);
}

// Prefetches the headers of the `probed` buckets of each table that a sample reads.
void prefetch_buckets(const Search& search, std::size_t sample, std::size_t lanes, std::size_t probed) {
  const std::uint32_t* prints = search.scratch.fingerprints.data() + sample;
  const std::uint32_t* flips = search.scratch.flips.data() + sample;
  for (std::size_t t = 0; t < search.tables.tables(); ++t) {
    search.tables.prefetch(t, prints[t * lanes]);
    if (probed > 1) search.tables.prefetch(t, prints[t * lanes] ^ flips[t * lanes]);
  }
}

// Writes the buckets of prefetch_buckets() to scratch.buckets from index `size` on. Returns the new number of
// buckets.
std::size_t list_buckets(const Search& search, std::size_t sample, std::size_t lanes, std::size_t probed,
                         std::size_t size) {
  QueryScratch& scratch = search.scratch;
  const std::size_t tables = search.tables.tables();
  const std::uint32_t* prints = scratch.fingerprints.data() + sample;
  const std::uint32_t* flips = scratch.flips.data() + sample;
  for (std::size_t t = 0; t < tables; ++t) {
    scratch.buckets[size++] = search.tables.bucket(t, prints[t * lanes]);
    if (probed > 1 && flips[t * lanes] != 0)
      scratch.buckets[size++] = search.tables.bucket(t, prints[t * lanes] ^ flips[t * lanes]);
  }
  return size;
}

// Prefetches the first lines of a bucket, at most kLinesOfBucket.
void prefetch_ids(std::span<const std::uint32_t> bucket) {
  constexpr std::size_t kIds = kAlignment / sizeof(std::uint32_t);
  for (std::size_t i = 0; i < std::min(bucket.size() + kIds - 1, kLinesOfBucket * kIds); i += kIds)
    prefetch(bucket.data() + i);
}

// Counts in scratch.bucket_counts how many of the first `buckets` buckets have each id. Lists the ids of two
// or more buckets in scratch.repeated, in order of their second occurrence, and returns their number. The
// listing is branch-free: the branch would be unpredictable. O(ids of the buckets).
std::size_t count_ids(QueryScratch& scratch, std::size_t buckets) {
  std::uint16_t* counts = scratch.bucket_counts.data();
  const std::uint16_t zero = scratch.zero, one = zero + 1;
  std::uint32_t* repeated = scratch.repeated.data();
  const bool prefetch_counts = scratch.bucket_counts.size() >= kFarCounts;
  std::size_t size = 0;
  for (std::size_t i = 0; i < std::min(kPrefetched, buckets); ++i) prefetch_ids(scratch.buckets[i]);
  for (std::size_t i = 0; i < buckets; ++i) {
    if (i + kPrefetched < buckets) prefetch_ids(scratch.buckets[i + kPrefetched]);
    if (prefetch_counts && i + kCountsAhead < buckets) {
      for (const std::uint32_t id : scratch.buckets[i + kCountsAhead]) prefetch(counts + id);
    }
    for (const std::uint32_t id : scratch.buckets[i]) {
      const std::uint16_t before = std::max(counts[id], zero);
      repeated[size] = id;
      size += before == one ? 1 : 0;
      counts[id] = before + 1;
    }
  }
  return size;
}

// Sets all counts to zero by raising scratch.zero; clears the array before 16 bits overflow. O(1) amortised
// over queries.
void reset_bucket_counts(QueryScratch& scratch, std::size_t buckets) {
  if (scratch.zero + buckets + scratch.buckets.size() >= kExcluded) {
    std::fill(scratch.bucket_counts.begin(), scratch.bucket_counts.end(), std::uint16_t{0});
    scratch.zero = 0;
  } else {
    scratch.zero = static_cast<std::uint16_t>(scratch.zero + buckets);
  }
}

// Appends up to `wanted` ids to `out`, those that occur in the largest number of buckets: selection by a
// histogram of the counts. Ids of a single bucket only fill the result up to kMinFound.
void take_by_count(QueryScratch& scratch, std::size_t buckets, std::size_t wanted,
                   std::vector<std::uint32_t>& out) {
  const std::span<const std::uint32_t> repeated(scratch.repeated.data(), count_ids(scratch, buckets));
  const auto count_of = [&](std::uint32_t id) -> std::size_t {
    return scratch.bucket_counts[id] - scratch.zero;
  };
  std::fill(scratch.histogram.begin(), scratch.histogram.end(), 0U);
  for (const std::uint32_t id : repeated) ++scratch.histogram[count_of(id)];
  // Takes all ids with counts above `min_count`, and `left` ids with count `min_count`.
  std::size_t min_count = buckets, left = wanted;
  while (min_count > 1 && scratch.histogram[min_count] <= left) left -= scratch.histogram[min_count--];
  const std::size_t before = out.size();
  out.resize(before + std::min(repeated.size(), wanted) + 1);  // and one write-only slot
  std::uint32_t* end = out.data() + before;
  for (const std::uint32_t id : repeated) {
    const std::size_t count = count_of(id), takes_left = count == min_count && left > 0 ? 1 : 0;
    *end = id;
    end += count > min_count ? 1 : takes_left;
    left -= takes_left;
  }
  out.resize(static_cast<std::size_t>(end - out.data()));
  const std::size_t enough = std::min(wanted, kMinFound);
  for (std::size_t i = 0; i < buckets && out.size() < enough; ++i) {
    for (const std::uint32_t id : scratch.buckets[i]) {
      if (count_of(id) == 1 && out.size() < enough) out.push_back(id);
    }
  }
  reset_bucket_counts(scratch, buckets);
}

// take_by_count() without the ids in `known` and `scored`: their counts begin at kExcluded.
void take_by_count_except(QueryScratch& scratch, std::size_t buckets, std::size_t wanted,
                          std::span<const std::uint32_t> known, std::span<const std::uint32_t> scored,
                          std::vector<std::uint32_t>& out) {
  const auto count_from = [&](std::uint16_t count) {
    for (const std::uint32_t id : known) scratch.bucket_counts[id] = count;
    for (const std::uint32_t id : scored) scratch.bucket_counts[id] = count;
  };
  count_from(kExcluded);
  take_by_count(scratch, buckets, wanted, out);
  count_from(0);
}

// The querying samples of a block, packed side by side: the first ones, since batches are shuffled.
QueryBlock pack_queries(const Search& search, const QueryBlock& block) {
  QueryBlock queries = block;
  queries.samples = std::min<std::size_t>(search.config.queries, block.samples);
  if (block.lanes <= kernels::kLaneMultiple) return queries;
  queries.lanes = kernels::kLaneMultiple;
  queries.xt = search.scratch.queries.data();
  for (std::size_t d = 0; d < block.inner; ++d)
    std::copy_n(block.xt + d * block.lanes, queries.lanes, search.scratch.queries.data() + d * queries.lanes);
  return queries;
}

// Hashes the querying samples in all tables. A sparse vector has no second bucket.
QueryBlock hash_queries(const Search& search, const QueryInput& input) {
  QueryScratch& scratch = search.scratch;
  if (input.block.xt != nullptr) {
    const QueryBlock queries = pack_queries(search, input.block);
    project_queries(search.functions, queries, scratch);
    return queries;
  }
  std::iota(scratch.table_order.begin(), scratch.table_order.end(), 0U);
  search.functions.hash_sparse(input.ids, input.values, scratch.table_order, scratch.hash,
                               scratch.fingerprints.data());
  std::fill_n(scratch.flips.begin(), search.tables.tables(), 0U);
  return {nullptr, 0, 1, 1};
}

// scores[i*lanes + b] = w.x + bias of candidate i and column b.
void score(const QueryBlock& block, QueryScratch& scratch) {
  const auto& k = kernels::active();
  const std::vector<std::uint32_t>& ids = scratch.found;
  float* shift = scratch.hash.shift.data();
  for (std::size_t i = 0; i < ids.size(); ++i)
    shift[i] = block.rows.bias != nullptr ? block.rows.bias[ids[i]] : 0;
  if (block.rows.pairs != nullptr) {
    k.rows_forward_bf16(block.rows.pairs, block.rows.stride, ids.data(), ids.size(), shift, block.xt,
                        block.inner, block.lanes, scratch.scores.data());
  } else {
    k.rows_forward(block.rows.fp32, block.rows.stride, ids.data(), ids.size(), shift, block.xt, block.inner,
                   block.lanes, scratch.scores.data());
  }
}

// Appends to `out` up to `wanted` candidates of scratch.found with the smallest distance: score of the best
// candidate minus own score, minimum over the samples. Overwrites scratch.found. Selects by a histogram of
// the upper bits of the distances, in O(candidates).
void append_nearest(const QueryBlock& queries, std::size_t wanted, QueryScratch& scratch,
                    std::vector<std::uint32_t>& out) {
  std::vector<std::uint32_t>& found = scratch.found;
  const std::size_t size = found.size();
  float* behind = scratch.hash.shift.data();
  kernels::active().behind_best(scratch.scores.data(), size, queries.lanes, queries.samples, behind);
  const auto class_of = [&](std::size_t i) { return std::bit_cast<std::uint32_t>(behind[i]) >> kClassShift; };
  std::vector<std::uint32_t>& classes = scratch.classes;
  std::fill(classes.begin(), classes.end(), 0U);
  for (std::size_t i = 0; i < size; ++i) ++classes[class_of(i)];
  // Takes all classes below `last`, and the nearest `left` candidates of class `last`.
  std::size_t last = 0, left = std::min(wanted, size);
  while (left > 0 && classes[last] <= left) left -= classes[last++];
  scratch.ranked.clear();  // sort keys of class `last`: distance, then id
  std::size_t taken = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t own_class = class_of(i);
    if (own_class == last)
      scratch.ranked.push_back(std::uint64_t{std::bit_cast<std::uint32_t>(behind[i])} << 32 | found[i]);
    found[taken] = found[i];
    taken += own_class < last ? 1 : 0;
  }
  std::vector<std::uint64_t>& ranked = scratch.ranked;
  const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(left, ranked.size()));
  std::nth_element(ranked.begin(), end, ranked.end());
  for (auto key = ranked.begin(); key != end; ++key) found[taken++] = static_cast<std::uint32_t>(*key);
  out.insert(out.end(), found.begin(), found.begin() + static_cast<std::ptrdiff_t>(taken));
}

}  // namespace

// Allocates array by array; search_scratch_bytes() counts the same arrays, without those of the hash
// functions.
void prepare_search(QueryScratch& scratch, const HashConfig& config, const HashFunctions& functions,
                    const SearchSize& size) {
  const std::size_t lanes = size.lanes;
  const std::size_t queries = std::min<std::size_t>(lanes, config.queries);
  const std::size_t scored = scored_of(size);
  functions.prepare(scratch.hash, lanes);
  grow(scratch.fingerprints, functions.tables() * lanes);
  grow(scratch.flips, functions.tables() * lanes);
  grow(scratch.buckets, functions.tables() * queries * kProbed);
  grow(scratch.bucket_counts, size.neurons);
  grow(scratch.repeated, size.neurons + 1);
  grow(scratch.histogram, scratch.buckets.size() + 1);
  scratch.found.reserve(scored);
  scratch.ranked.reserve(scored);
  grow(scratch.classes, std::size_t{1} << (32 - kClassShift));
  grow(scratch.hash.shift, scored);
  if (lanes > kernels::kLaneMultiple) grow(scratch.queries, functions.dim() * kernels::kLaneMultiple);
  grow(scratch.scores, scored * std::min(lanes, kernels::kLaneMultiple));
}

// Memory of prepare_search(), line by line: arrays by neuron; classes; fingerprints and flips; buckets and
// histogram; arrays by scored neuron; packed queries.
double search_scratch_bytes(const HashConfig& config, std::size_t dim, const SearchSize& size) {
  const std::size_t asked = std::min(size.lanes, kernels::kLaneMultiple);
  const auto scored = double(scored_of(size));
  return double(size.neurons) * (sizeof(std::uint16_t) + sizeof(std::uint32_t)) +
         double(std::size_t{1} << (32 - kClassShift)) * sizeof(std::uint32_t) +
         double(config.tables) * double(2 * size.lanes) * sizeof(std::uint32_t) +
         double(config.tables * kProbed * std::min<std::size_t>(asked, config.queries)) *
             (sizeof(std::span<const std::uint32_t>) + sizeof(std::uint32_t)) +
         scored * (2 * sizeof(std::uint32_t) + sizeof(std::uint64_t) + double(asked) * sizeof(float)) +
         double(size.lanes > kernels::kLaneMultiple ? dim * kernels::kLaneMultiple : 0) * sizeof(float);
}

void project_queries(const HashFunctions& functions, const QueryBlock& block, QueryScratch& scratch) {
  functions.hash_probes(block, scratch.hash, scratch.fingerprints.data(), scratch.flips.data());
}

// Lists the sample's buckets, two per table, and takes the ids in most of them.
void find_for_sample(const Search& search, std::size_t sample, std::size_t lanes, std::size_t wanted,
                     std::size_t scored, std::vector<std::uint32_t>& out) {
  out.clear();
  if (sample == 0) prefetch_buckets(search, sample, lanes, kProbed);
  const std::size_t buckets = list_buckets(search, sample, lanes, kProbed, 0);
  if (sample + 1 < lanes)
    prefetch_buckets(search, sample + 1, lanes, kProbed);  // the sample that the caller asks for next
  // Excludes rows that are scored anyway. The tables of a frozen index do not contain the longest rows.
  const std::span<const std::uint32_t> longest = search.longest->ids();
  const auto excluded = longest.first(search.longest->frozen() ? 0 : std::min(longest.size(), scored));
  take_by_count_except(search.scratch, buckets, wanted, {}, excluded, out);
}

// Counts the buckets of the querying samples. With weight rows: scores the most frequent ids and the longest
// rows, and takes the best by score; without: takes the most frequent ids.
void find_search(const Search& search, const QueryInput& input, std::size_t wanted) {
  QueryScratch& scratch = search.scratch;
  const WeightRows& rows = input.block.rows;
  const bool scored = input.block.xt != nullptr && (rows.fp32 != nullptr || rows.pairs != nullptr);
  const QueryBlock queries = hash_queries(search, input);
  const std::size_t probed = queries.samples == 1 ? kProbed : 1;
  std::size_t buckets = 0;
  for (std::size_t b = 0; b < queries.samples; ++b) prefetch_buckets(search, b, queries.lanes, probed);
  for (std::size_t b = 0; b < queries.samples; ++b)
    buckets = list_buckets(search, b, queries.lanes, probed, buckets);
  scratch.found.clear();
  const std::size_t limit = scored ? max_from_buckets(search.tables.neurons(), wanted) : wanted;
  std::span<const std::uint32_t> longest;
  if (scored) longest = search.longest->ids().first(std::min(search.longest->ids().size(), limit));
  take_by_count_except(scratch, buckets, limit, search.out, longest, scratch.found);
  const std::size_t before = search.out.size();
  if (scored) {
    for (const std::uint32_t id : longest) {
      if (!search.seen.contains(id)) scratch.found.push_back(id);
    }
    score(queries, scratch);
    append_nearest(queries, wanted, scratch, search.out);
  } else {
    search.out.insert(search.out.end(), scratch.found.begin(), scratch.found.end());
  }
  for (std::size_t i = before; i < search.out.size(); ++i) search.seen.insert(search.out[i]);
}

}  // namespace slide::lsh
