#include "lsh/table_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "engine/base/prefetch.h"
#include "engine/kernels/kernels.h"

namespace slide::lsh {

namespace {

constexpr std::size_t kProbed = 2;    // buckets of a table that a sample reads
constexpr std::size_t kScoredOf = 2;  // scored neurons per wanted one, from buckets and from the longest rows
constexpr std::size_t kMinFound = 32;   // neurons in a single bucket fill the answer up to this number
constexpr std::size_t kPrefetched = 8;  // prefetch distance in buckets

// Max number of scored neurons.
std::size_t scored_of(const SearchSize& size) {
  const std::size_t most = std::min(size.neurons, kScoredOf * size.wanted);
  return most + std::min(most, LongRows::kInTraining);
}

// Appends the buckets that a sample reads to scratch.buckets, after a prefetch of all their headers. Returns
// the new number of buckets.
std::size_t list_buckets(const Search& search, std::size_t sample, std::size_t lanes, std::size_t size) {
  QueryScratch& scratch = search.scratch;
  const std::size_t tables = search.tables.tables();
  const std::uint32_t* prints = scratch.fingerprints.data() + sample;
  const std::uint32_t* flips = scratch.flips.data() + sample;
  for (std::size_t t = 0; t < tables; ++t) {
    search.tables.prefetch(t, prints[t * lanes]);
    search.tables.prefetch(t, prints[t * lanes] ^ flips[t * lanes]);
  }
  for (std::size_t t = 0; t < tables; ++t) {
    scratch.buckets[size++] = search.tables.bucket(t, prints[t * lanes]);
    if (flips[t * lanes] != 0)
      scratch.buckets[size++] = search.tables.bucket(t, prints[t * lanes] ^ flips[t * lanes]);
  }
  return size;
}

// times[id] = `none` + number of the first `buckets` buckets with the id. Returns the number of ids in
// scratch.repeated: those in two or more buckets, in order of the second occurrence. Branch-free.
std::size_t count_ids(QueryScratch& scratch, std::size_t buckets) {
  std::uint16_t* times = scratch.times.data();
  const std::uint16_t none = scratch.none, once = none + 1;
  std::uint32_t* repeated = scratch.repeated.data();
  std::size_t size = 0;
  for (std::size_t i = 0; i < buckets; ++i) {
    if (i + kPrefetched < buckets) {
      const std::span<const std::uint32_t> ahead = scratch.buckets[i + kPrefetched];
      prefetch(ahead.data());
      prefetch(ahead.data() + kAlignment / sizeof(std::uint32_t));
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
  if (scratch.none + buckets + scratch.buckets.size() > UINT16_MAX) {
    std::fill(scratch.times.begin(), scratch.times.end(), std::uint16_t{0});
    scratch.none = 0;
  } else {
    scratch.none = static_cast<std::uint16_t>(scratch.none + buckets);
  }
}

// Appends up to `wanted` ids with use(id) to `out`, those in most buckets. Ids in a single bucket only fill
// the answer up to kMinFound.
template <class Use>
void take_most_found(QueryScratch& scratch, std::size_t buckets, std::size_t wanted, Use&& use,
                     std::vector<std::uint32_t>& out) {
  const std::size_t counted = count_ids(scratch, buckets);
  const auto times_of = [&](std::uint32_t id) -> std::size_t { return scratch.times[id] - scratch.none; };
  std::fill(scratch.histogram.begin(), scratch.histogram.end(), 0U);
  std::size_t used = 0;
  for (std::size_t i = 0; i < counted; ++i) {
    const std::uint32_t id = scratch.repeated[i];
    if (!use(id)) continue;
    scratch.repeated[used++] = id;
    ++scratch.histogram[times_of(id)];
  }
  const std::span<const std::uint32_t> repeated(scratch.repeated.data(), used);
  // Takes all ids with counts above `least`, and `room` ids with count `least`.
  std::size_t least = buckets, room = wanted;
  while (least > 1 && scratch.histogram[least] <= room) room -= scratch.histogram[least--];
  for (const std::uint32_t id : repeated) {
    const std::size_t times = times_of(id);
    if (times < least || (times == least && room == 0)) continue;
    room -= times == least ? 1 : 0;
    out.push_back(id);
  }
  const std::size_t enough = std::min(wanted, kMinFound);
  for (std::size_t i = 0; i < buckets && out.size() < enough; ++i) {
    for (const std::uint32_t id : scratch.buckets[i]) {
      if (times_of(id) == 1 && out.size() < enough && use(id)) out.push_back(id);
    }
  }
  forget_counts(scratch, buckets);
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

// ranked = candidates with the key min over samples b of (best score of b - score for b). The loops run over
// all kLanes columns; those without a sample have the key infinity.
template <std::size_t kLanes>
void rank_by_score(std::size_t samples, QueryScratch& scratch) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::array<float, kLanes> best;
  best.fill(-kInfinity);
  const float* z = scratch.scores.data();
  for (std::size_t i = 0; i < scratch.found.size(); ++i, z += kLanes) {
    for (std::size_t b = 0; b < kLanes; ++b) best[b] = best[b] < z[b] ? z[b] : best[b];
  }
  std::fill(best.begin() + static_cast<std::ptrdiff_t>(samples), best.end(), kInfinity);
  z = scratch.scores.data();
  scratch.ranked.clear();
  for (std::size_t i = 0; i < scratch.found.size(); ++i, z += kLanes) {
    std::array<float, kLanes> behind;
    for (std::size_t b = 0; b < kLanes; ++b) behind[b] = best[b] - z[b];
    const float least = *std::min_element(behind.begin(), behind.end());
    scratch.ranked.push_back(std::uint64_t{std::bit_cast<std::uint32_t>(least)} << 32 | scratch.found[i]);
  }
}

void give_ranked(const Search& search, std::size_t wanted) {
  std::vector<std::uint64_t>& ranked = search.scratch.ranked;
  const auto end = ranked.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, ranked.size()));
  std::nth_element(ranked.begin(), end, ranked.end());
  for (auto key = ranked.begin(); key != end; ++key) search.out.push_back(static_cast<std::uint32_t>(*key));
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
  grow(scratch.hash.shift, scored);
  if (lanes > kernels::kLaneMultiple) grow(scratch.asked, functions.dim() * kernels::kLaneMultiple);
  grow(scratch.scores, scored * std::min(lanes, kernels::kLaneMultiple));
}

double search_scratch_bytes(const HashConfig& config, std::size_t dim, const SearchSize& size) {
  const std::size_t asked = std::min(size.lanes, kernels::kLaneMultiple);
  const auto scored = double(scored_of(size));
  return double(size.neurons) * (sizeof(std::uint16_t) + sizeof(std::uint32_t)) +
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
  const auto use = [&](std::uint32_t id) { return !search.longest->contains(id); };
  take_most_found(search.scratch, list_buckets(search, sample, lanes, 0), wanted, use, out);
}

void find_search(const Search& search, const QueryInput& input, std::size_t wanted) {
  QueryScratch& scratch = search.scratch;
  const WeightRows& rows = input.block.rows;
  const bool scored = input.block.xt != nullptr && (rows.fp32 != nullptr || rows.pairs != nullptr);
  const QueryBlock asking = hash_asking(search, input);
  std::size_t buckets = 0;
  for (std::size_t b = 0; b < asking.samples; ++b) buckets = list_buckets(search, b, asking.lanes, buckets);
  scratch.found.clear();
  const std::size_t most = scored ? std::min(search.tables.neurons(), kScoredOf * wanted) : wanted;
  const auto use = [&](std::uint32_t id) {
    return !search.seen.contains(id) && !(scored && search.longest->place(id) < most);
  };
  take_most_found(scratch, buckets, most, use, scratch.found);
  const std::size_t before = search.out.size();
  if (scored) {
    const auto longest = search.longest->ids();
    for (const std::uint32_t id : longest.first(std::min(longest.size(), most))) {
      if (!search.seen.contains(id)) scratch.found.push_back(id);
    }
    score(asking, scratch);
    asking.lanes == 1 ? rank_by_score<1>(1, scratch)
                      : rank_by_score<kernels::kLaneMultiple>(asking.samples, scratch);
    give_ranked(search, wanted);
  } else {
    search.out.insert(search.out.end(), scratch.found.begin(), scratch.found.end());
  }
  for (std::size_t i = before; i < search.out.size(); ++i) search.seen.insert(search.out[i]);
}

}  // namespace slide::lsh
