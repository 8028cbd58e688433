#include "lsh/table_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>

#include "engine/base/prefetch.h"
#include "engine/kernels/kernels.h"

namespace slide::lsh {

namespace {

constexpr std::size_t kProbed =
    2;  // buckets of a table that a single sample reads; of a block each reads one
// Scored neurons: per wanted one, and at least; from buckets, and as many from the longest rows.
constexpr std::size_t kScoredOf = 2, kMinScored = 512;
constexpr std::size_t kMinFound = 32;          // neurons in a single bucket fill the answer up to this number
constexpr std::uint16_t kExcluded = 1U << 15;  // count of an id that is no candidate, at least
constexpr std::size_t kPrefetched = 8;         // prefetch distance in buckets,
constexpr std::size_t kCountsAhead = 2;        // and of the counts of their ids,
constexpr std::size_t kFarCounts = std::size_t{1}
                                   << 17;  // from so many counts on, which leave the second cache
constexpr std::size_t kLinesOfBucket = 4;
constexpr std::uint32_t kClassShift = 20;  // a class of distances has equal upper bits

std::size_t max_from_buckets(std::size_t neurons, std::size_t wanted) {
  return std::min(neurons, std::max(kScoredOf * wanted, kMinScored));
}

// Max number of scored neurons.
std::size_t scored_of(const SearchSize& size) {
  const std::size_t most = max_from_buckets(size.neurons, size.wanted);
  return most + std::min(most, LongRows::kInTraining);
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

// Appends these buckets to scratch.buckets. Returns the new number of buckets.
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

// times[id] = `none` + number of the first `buckets` buckets with the id. Returns the number of ids in
// scratch.repeated: those in two or more buckets, in order of the second occurrence. Branch-free.
std::size_t count_ids(QueryScratch& scratch, std::size_t buckets) {
  std::uint16_t* times = scratch.times.data();
  const std::uint16_t none = scratch.none, once = none + 1;
  std::uint32_t* repeated = scratch.repeated.data();
  const bool far = scratch.times.size() >= kFarCounts;
  std::size_t size = 0;
  for (std::size_t i = 0; i < std::min(kPrefetched, buckets); ++i) prefetch_ids(scratch.buckets[i]);
  for (std::size_t i = 0; i < buckets; ++i) {
    if (i + kPrefetched < buckets) prefetch_ids(scratch.buckets[i + kPrefetched]);
    if (far && i + kCountsAhead < buckets) {
      for (const std::uint32_t id : scratch.buckets[i + kCountsAhead]) prefetch(times + id);
    }
    for (const std::uint32_t id : scratch.buckets[i]) {
      const std::uint16_t before = std::max(times[id], none);
      repeated[size] = id;
      size += before == once ? 1 : 0;
      times[id] = before + 1;
    }
  }
  return size;
}

// Sets all counts to zero: raises `none`, and clears `times` before 16 bits overflow. Amortised O(1).
void forget_counts(QueryScratch& scratch, std::size_t buckets) {
  if (scratch.none + buckets + scratch.buckets.size() >= kExcluded) {
    std::fill(scratch.times.begin(), scratch.times.end(), std::uint16_t{0});
    scratch.none = 0;
  } else {
    scratch.none = static_cast<std::uint16_t>(scratch.none + buckets);
  }
}

// Appends up to `wanted` ids to `out`, those in most buckets. Ids in a single bucket only fill the answer up
// to kMinFound.
void take_most_found(QueryScratch& scratch, std::size_t buckets, std::size_t wanted,
                     std::vector<std::uint32_t>& out) {
  const std::span<const std::uint32_t> repeated(scratch.repeated.data(), count_ids(scratch, buckets));
  const auto times_of = [&](std::uint32_t id) -> std::size_t { return scratch.times[id] - scratch.none; };
  std::fill(scratch.histogram.begin(), scratch.histogram.end(), 0U);
  for (const std::uint32_t id : repeated) ++scratch.histogram[times_of(id)];
  // Takes all ids with counts above `least`, and `room` ids with count `least`.
  std::size_t least = buckets, room = wanted;
  while (least > 1 && scratch.histogram[least] <= room) room -= scratch.histogram[least--];
  const std::size_t before = out.size();
  out.resize(before + std::min(repeated.size(), wanted) + 1);  // and one write-only slot
  std::uint32_t* end = out.data() + before;
  for (const std::uint32_t id : repeated) {
    const std::size_t times = times_of(id), filling = times == least && room > 0 ? 1 : 0;
    *end = id;
    end += times > least ? 1 : filling;
    room -= filling;
  }
  out.resize(static_cast<std::size_t>(end - out.data()));
  const std::size_t enough = std::min(wanted, kMinFound);
  for (std::size_t i = 0; i < buckets && out.size() < enough; ++i) {
    for (const std::uint32_t id : scratch.buckets[i]) {
      if (times_of(id) == 1 && out.size() < enough) out.push_back(id);
    }
  }
  forget_counts(scratch, buckets);
}

// The same without the ids in `known` and `scored`: their counts begin at kExcluded.
void take_most_others(QueryScratch& scratch, std::size_t buckets, std::size_t wanted,
                      std::span<const std::uint32_t> known, std::span<const std::uint32_t> scored,
                      std::vector<std::uint32_t>& out) {
  const auto count_from = [&](std::uint16_t count) {
    for (const std::uint32_t id : known) scratch.times[id] = count;
    for (const std::uint32_t id : scored) scratch.times[id] = count;
  };
  count_from(kExcluded);
  take_most_found(scratch, buckets, wanted, out);
  count_from(0);
}

// The querying samples of a block, packed side by side: the first ones, since batches are shuffled.
QueryBlock pack_asking(const Search& search, const QueryBlock& block) {
  QueryBlock asking = block;
  asking.samples = std::min<std::size_t>(search.config.queries, block.samples);
  if (block.lanes <= kernels::kLaneMultiple) return asking;
  asking.lanes = kernels::kLaneMultiple;
  asking.xt = search.scratch.asked.data();
  for (std::size_t d = 0; d < block.inner; ++d)
    std::copy_n(block.xt + d * block.lanes, asking.lanes, search.scratch.asked.data() + d * asking.lanes);
  return asking;
}

// Hashes the querying samples in all tables. A sparse vector has no second bucket.
QueryBlock hash_asking(const Search& search, const QueryInput& input) {
  QueryScratch& scratch = search.scratch;
  if (input.block.xt != nullptr) {
    const QueryBlock asking = pack_asking(search, input.block);
    project_queries(search.functions, asking, scratch);
    return asking;
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

// Appends to `out` the up to `wanted` candidates nearest behind the best candidate, in the sample where they
// are nearest to it, by a histogram of the upper bits.
void give_nearest(const QueryBlock& asking, std::size_t wanted, QueryScratch& scratch,
                  std::vector<std::uint32_t>& out) {
  std::vector<std::uint32_t>& found = scratch.found;  // becomes the answer
  const std::size_t size = found.size();
  float* behind = scratch.hash.shift.data();
  kernels::active().behind_best(scratch.scores.data(), size, asking.lanes, asking.samples, behind);
  const auto class_of = [&](std::size_t i) { return std::bit_cast<std::uint32_t>(behind[i]) >> kClassShift; };
  std::vector<std::uint32_t>& classes = scratch.classes;
  std::fill(classes.begin(), classes.end(), 0U);
  for (std::size_t i = 0; i < size; ++i) ++classes[class_of(i)];
  std::size_t last = 0, room = std::min(wanted, size);
  while (room > 0 && classes[last] <= room) room -= classes[last++];
  scratch.ranked.clear();  // takes all classes before `last`, and the nearest `room` of it
  std::size_t taken = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t of = class_of(i);
    if (of == last)
      scratch.ranked.push_back(std::uint64_t{std::bit_cast<std::uint32_t>(behind[i])} << 32 | found[i]);
    found[taken] = found[i];
    taken += of < last ? 1 : 0;
  }
  std::vector<std::uint64_t>& ranked = scratch.ranked;
  const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(room, ranked.size()));
  std::nth_element(ranked.begin(), end, ranked.end());
  for (auto key = ranked.begin(); key != end; ++key) found[taken++] = static_cast<std::uint32_t>(*key);
  out.insert(out.end(), found.begin(), found.begin() + static_cast<std::ptrdiff_t>(taken));
}

}  // namespace

void prepare_search(QueryScratch& scratch, const HashConfig& config, const HashFunctions& functions,
                    const SearchSize& size) {
  const std::size_t lanes = size.lanes;
  const std::size_t asking = std::min<std::size_t>(lanes, config.queries);
  const std::size_t scored = scored_of(size);
  functions.prepare(scratch.hash, lanes);
  grow(scratch.fingerprints, functions.tables() * lanes);
  grow(scratch.flips, functions.tables() * lanes);
  grow(scratch.buckets, functions.tables() * asking * kProbed);
  grow(scratch.times, size.neurons);
  grow(scratch.repeated, size.neurons + 1);
  grow(scratch.histogram, scratch.buckets.size() + 1);
  scratch.found.reserve(scored);
  scratch.ranked.reserve(scored);
  grow(scratch.classes, std::size_t{1} << (32 - kClassShift));
  grow(scratch.hash.shift, scored);
  if (lanes > kernels::kLaneMultiple) grow(scratch.asked, functions.dim() * kernels::kLaneMultiple);
  grow(scratch.scores, scored * std::min(lanes, kernels::kLaneMultiple));
}

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

void find_for_sample(const Search& search, std::size_t sample, std::size_t lanes, std::size_t wanted,
                     std::vector<std::uint32_t>& out) {
  out.clear();
  if (sample == 0) prefetch_buckets(search, sample, lanes, kProbed);
  const std::size_t buckets = list_buckets(search, sample, lanes, kProbed, 0);
  if (sample + 1 < lanes)
    prefetch_buckets(search, sample + 1, lanes, kProbed);  // that the caller asks for next
  // The tables of an index that stays as it is do not have the longest rows.
  const auto filed = search.longest->frozen() ? std::span<const std::uint32_t>() : search.longest->ids();
  take_most_others(search.scratch, buckets, wanted, {}, filed, out);
}

void find_search(const Search& search, const QueryInput& input, std::size_t wanted) {
  QueryScratch& scratch = search.scratch;
  const WeightRows& rows = input.block.rows;
  const bool scored = input.block.xt != nullptr && (rows.fp32 != nullptr || rows.pairs != nullptr);
  const QueryBlock asking = hash_asking(search, input);
  const std::size_t probed = asking.samples == 1 ? kProbed : 1;
  std::size_t buckets = 0;
  for (std::size_t b = 0; b < asking.samples; ++b) prefetch_buckets(search, b, asking.lanes, probed);
  for (std::size_t b = 0; b < asking.samples; ++b)
    buckets = list_buckets(search, b, asking.lanes, probed, buckets);
  scratch.found.clear();
  const std::size_t most = scored ? max_from_buckets(search.tables.neurons(), wanted) : wanted;
  std::span<const std::uint32_t> longest;
  if (scored) longest = search.longest->ids().first(std::min(search.longest->ids().size(), most));
  take_most_others(scratch, buckets, most, search.out, longest, scratch.found);
  const std::size_t before = search.out.size();
  if (scored) {
    for (const std::uint32_t id : longest) {
      if (!search.seen.contains(id)) scratch.found.push_back(id);
    }
    score(asking, scratch);
    give_nearest(asking, wanted, scratch, search.out);
  } else {
    search.out.insert(search.out.end(), scratch.found.begin(), scratch.found.end());
  }
  for (std::size_t i = before; i < search.out.size(); ++i) search.seen.insert(search.out[i]);
}

}  // namespace slide::lsh
