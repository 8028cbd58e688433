#include "lsh/neuron_index.h"

#include <algorithm>
#include <optional>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"
#include "lsh/candidates.h"
#include "lsh/hash_families.h"
#include "lsh/hash_functions.h"
#include "lsh/long_rows.h"
#include "lsh/simhash.h"
#include "lsh/table_search.h"

namespace slide::lsh {

namespace {
constexpr std::uint32_t kFixedTables = 32;  // of fixed()
// One of kLongPart neurons is among the longest; of small layers one of kLongPartOfFew, up to kFewLong.
constexpr std::size_t kLongPart = 48, kLongPartOfFew = 8, kFewLong = 8192;
constexpr double kBucketBytes = 16;  // header of a bucket

constexpr std::size_t kTaskRows = 256;   // rows of a task
constexpr std::size_t kSlabRows = 8192;  // rows hashed, then moved; bounds the memory of a rehash

double function_bytes(const HashConfig& config, std::size_t dim) {
  const double functions = double(config.tables) * config.k;
  if (config.family == HashFamily::kSimhash) return Simhash::bytes_of(config, dim);
  return 2 * functions * config.bin_size * sizeof(std::uint32_t);
}

// A block of rows, gathered and transposed; the projections of one table.
double function_scratch_bytes(const HashConfig& config, std::size_t dim, std::size_t lanes) {
  return (2.0 * double(dim) * kernels::kLaneMultiple + double(config.k + 1) * double(lanes)) * sizeof(float);
}

}  // namespace

struct NeuronIndex::Parts {
  Parts(const HashConfig& settings, std::size_t neurons, std::size_t dim, std::uint64_t seed,
        std::size_t long_rows)
      : config(sized_for(settings, neurons)),
        functions(make_hash_functions(config, dim, seed)),
        tables(config, neurons, seed) {
    if (config.candidates == CandidatePolicy::kSearch) longest.emplace(neurons, long_rows);
    reserve_fresh();
  }

  void reserve_fresh() {
    const std::size_t wanted = config.tables * std::min(tables.neurons(), kSlabRows);
    if (memory->fresh.size() < wanted) memory->fresh.resize(wanted);
    const std::size_t slab = longest ? std::min(tables.neurons(), kSlabRows) : 0;
    if (memory->norms2.size() < slab) memory->norms2.resize(slab);
  }

  void hash_all(const WeightRows& weights, std::uint64_t number, int threads);
  void hash_rows(const RowSet& rows, std::uint32_t* fingerprints, float* norms2, int threads);
  Search search(QueryScratch& scratch, IdSet& seen, std::vector<std::uint32_t>& out) const {
    return {config, *functions, tables, scratch, seen, out, longest ? &*longest : nullptr};
  }
  std::span<const std::uint32_t> ascending(std::span<const std::uint32_t> ids);

  HashConfig config;
  std::unique_ptr<HashFunctions> functions;
  HashTables tables;
  std::optional<LongRows> longest;  // of the search policy
  std::uint64_t generation = 0;
  struct Memory {
    std::vector<HashScratch> threads;
    std::vector<std::uint32_t> fresh;   // [table][row of the slab]
    std::vector<float> norms2;          // by row of the slab
    std::vector<std::uint32_t> sorted;  // touched ids, if they came unsorted
  };
  std::shared_ptr<Memory> memory = std::make_shared<Memory>();
};

// fingerprints[t*rows.count + i] and, unless nullptr, norms2[i] of all rows. Parallel over rows.
void NeuronIndex::Parts::hash_rows(const RowSet& rows, std::uint32_t* fingerprints, float* norms2,
                                   int threads) {
  std::vector<HashScratch>& scratch = memory->threads;
  if (scratch.size() < static_cast<std::size_t>(std::max(threads, 1))) {
    scratch.resize(static_cast<std::size_t>(std::max(threads, 1)));
  }
  parallel_for((rows.count + kTaskRows - 1) / kTaskRows, threads, [&](std::size_t task, int thread) {
    const std::size_t begin = task * kTaskRows;
    const RowSet part = rows.part(begin, std::min(kTaskRows, rows.count - begin));
    functions->hash_rows(part, scratch[static_cast<std::size_t>(thread)], fingerprints + begin, rows.count,
                         norms2 == nullptr ? nullptr : norms2 + begin);
  });
}

// Returns `ids` in ascending order. The neurons that a full bucket keeps depend on the order of moves;
// ascending ids make them deterministic.
std::span<const std::uint32_t> NeuronIndex::Parts::ascending(std::span<const std::uint32_t> ids) {
  if (std::is_sorted(ids.begin(), ids.end())) return ids;
  std::vector<std::uint32_t>& sorted = memory->sorted;
  sorted.assign(ids.begin(), ids.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

NeuronIndex::NeuronIndex(const HashConfig& config, std::size_t neurons, std::size_t dim, std::uint64_t seed)
    : NeuronIndex(config, neurons, dim, seed, LongRows::kInTraining) {}
NeuronIndex::NeuronIndex(const HashConfig& config, std::size_t neurons, std::size_t dim, std::uint64_t seed,
                         std::size_t long_rows)
    : parts_(std::make_unique<Parts>(config, neurons, dim, seed, long_rows)) {}
NeuronIndex::~NeuronIndex() = default;
NeuronIndex::NeuronIndex(NeuronIndex&&) noexcept = default;
NeuronIndex& NeuronIndex::operator=(NeuronIndex&&) noexcept = default;

void NeuronIndex::share_memory(const NeuronIndex& other) {
  parts_->memory = other.parts_->memory;
  parts_->reserve_fresh();
}

// All that rebuild() does before rows go into the tables.
void NeuronIndex::Parts::hash_all(const WeightRows& weights, std::uint64_t number, int threads) {
  if (number != generation) functions->draw(number);
  generation = number;
  functions->fit(weights, tables.neurons(), threads);
  hash_rows({weights, nullptr, 0, tables.neurons()}, tables.fingerprints().data(),
            longest ? longest->lengths2().data() : nullptr, threads);
  if (longest) longest->choose();
}

void NeuronIndex::rebuild(const WeightRows& weights, std::uint64_t generation, int threads) {
  parts_->hash_all(weights, generation, threads);
  parts_->tables.insert_all(threads);
}

namespace {

// Number of longest rows that are always scored; enough for the other rows to need no padding to a common
// norm.
std::size_t fixed_long_rows(std::size_t neurons) {
  if (neurons < kFewNeurons) return 0;
  return std::max(neurons / kLongPart, std::min(neurons / kLongPartOfFew, kFewLong));
}

HashConfig fixed_config(std::size_t neurons) {
  HashConfig config;
  config.tables = kFixedTables;
  config.asymmetric = false;
  config.k = bits_of_small_buckets(neurons);
  return config;
}

}  // namespace

// The longest rows are left out of the tables, since every query scores them; working memory is freed at the
// end.
NeuronIndex NeuronIndex::fixed(const WeightRows& weights, std::size_t neurons, std::size_t dim,
                               std::uint64_t seed, int threads) {
  NeuronIndex index(fixed_config(neurons), neurons, dim, seed, fixed_long_rows(neurons));
  Parts& p = *index.parts_;
  p.hash_all(weights, 1, threads);
  p.tables.mark_not_filed(p.longest->ids());
  p.tables.insert_fixed(threads);
  p.longest->freeze();
  p.memory = std::make_shared<Parts::Memory>();
  return index;
}

// By slabs of kSlabRows rows: hashes them again, moves them, updates their norms.
void NeuronIndex::rehash(const WeightRows& weights, std::span<const std::uint32_t> touched, int threads) {
  Parts& p = *parts_;
  const auto ids = p.ascending(touched);
  if (!ids.empty()) p.functions->fit(weights, p.tables.neurons(), threads);
  float* norms2 = p.longest ? p.memory->norms2.data() : nullptr;
  for (std::size_t begin = 0; begin < ids.size(); begin += kSlabRows) {
    const auto slab = ids.subspan(begin, std::min(kSlabRows, ids.size() - begin));
    p.hash_rows({weights, slab.data(), 0, slab.size()}, p.memory->fresh.data(), norms2, threads);
    p.tables.move(slab, p.memory->fresh.data(), threads);
    if (p.longest) p.longest->follow(slab, norms2);
  }
}

void NeuronIndex::query(const QueryBlock& block, std::size_t wanted, Rng& rng, QueryScratch& scratch,
                        IdSet& seen, std::vector<std::uint32_t>& out) const {
  const Parts& p = *parts_;
  if (block.inner != p.functions->dim()) {
    fail_run("a query of width {} to an index of width {}", block.inner, p.functions->dim());
  }
  prepare_query(scratch, p.config, *p.functions, {p.tables.neurons(), block.lanes, wanted});
  find_candidates(p.search(scratch, seen, out), {block, {}, {}}, wanted, rng);
}

void NeuronIndex::query_sparse(std::span<const std::uint32_t> ids, std::span<const float> values,
                               std::size_t wanted, Rng& rng, QueryScratch& scratch, IdSet& seen,
                               std::vector<std::uint32_t>& out) const {
  const Parts& p = *parts_;
  prepare_query(scratch, p.config, *p.functions, {p.tables.neurons(), 1, wanted});
  find_candidates(p.search(scratch, seen, out), {{}, ids, values}, wanted, rng);
}

void NeuronIndex::project(const QueryBlock& block, QueryScratch& scratch) const {
  const Parts& p = *parts_;
  if (block.inner != p.functions->dim() || !p.longest)
    fail_run("a search of width {} in an index of width {}", block.inner, p.functions->dim());
  prepare_query(scratch, p.config, *p.functions, {p.tables.neurons(), block.lanes, 0});
  project_queries(*p.functions, block, scratch);
}

void NeuronIndex::find(std::size_t sample, std::size_t lanes, std::size_t wanted, QueryScratch& scratch,
                       std::vector<std::uint32_t>& out, std::size_t scored) const {
  IdSet none;
  find_for_sample(parts_->search(scratch, none, out), sample, lanes, wanted, scored, out);
}

std::span<const std::uint32_t> NeuronIndex::longest() const {
  return parts_->longest ? parts_->longest->ids() : std::span<const std::uint32_t>();
}

QueryScratch NeuronIndex::make_scratch(std::size_t lanes, std::size_t wanted) const {
  QueryScratch scratch;
  prepare_query(scratch, parts_->config, *parts_->functions, {parts_->tables.neurons(), lanes, wanted});
  return scratch;
}

void NeuronIndex::save(ByteWriter& out) const {
  out.put(parts_->generation);
  parts_->functions->save(out);
  parts_->tables.save(out);
  if (parts_->longest) parts_->longest->save(out);
}

void NeuronIndex::load(ByteReader& in) {
  Parts& p = *parts_;
  const auto generation = in.get<std::uint64_t>();
  if (generation != p.generation) p.functions->draw(generation);
  p.generation = generation;
  p.functions->load(in);
  p.tables.load(in);
  if (p.longest) p.longest->load(in);
}

std::uint64_t NeuronIndex::generation() const {
  return parts_->generation;
}

std::size_t NeuronIndex::bytes() const {
  const Parts& p = *parts_;
  return p.tables.bytes() + p.functions->bytes() + p.functions->frame().bytes() +
         (p.longest ? p.longest->bytes() : 0) + p.memory->norms2.size() * sizeof(float) +
         p.memory->fresh.size() * sizeof(std::uint32_t);
}

double NeuronIndex::bytes_of(const HashConfig& settings, std::size_t neurons, std::size_t dim) {
  const HashConfig config = sized_for(settings, neurons);
  const auto slab = double(std::min(neurons, kSlabRows));
  double bytes = HashTables::bytes_of(config, neurons) + function_bytes(config, dim) +
                 RowFrame::bytes_of(dim, neurons) + config.tables * slab * sizeof(std::uint32_t);
  if (config.candidates == CandidatePolicy::kSearch)
    bytes += LongRows::bytes_of(neurons, LongRows::kInTraining) + slab * sizeof(float);
  return bytes;
}

double NeuronIndex::fixed_bytes_of(std::size_t neurons, std::size_t dim) {
  const HashConfig config = sized_for(fixed_config(neurons), neurons);
  const double entries = double(config.tables) * double(neurons) * sizeof(std::uint32_t);
  return 2 * entries + double(config.tables) * double(std::size_t{1} << config.range_pow) * kBucketBytes +
         function_bytes(config, dim) + RowFrame::bytes_of(dim, neurons) +
         LongRows::bytes_of(neurons, fixed_long_rows(neurons));
}

double NeuronIndex::scratch_bytes_of(const HashConfig& settings, std::size_t neurons, std::size_t dim,
                                     std::size_t lanes, std::size_t wanted) {
  const HashConfig config = sized_for(settings, neurons);
  if (config.candidates == CandidatePolicy::kSearch)
    return function_scratch_bytes(config, dim, lanes) +
           search_scratch_bytes(config, dim, {neurons, lanes, wanted});
  const double counts = config.candidates == CandidatePolicy::kVanilla ? 0 : double(neurons);
  return function_scratch_bytes(config, dim, lanes) +
         counts * (2 * sizeof(std::uint32_t) + sizeof(std::uint64_t));
}

bool NeuronIndex::all_zero() const {
  return parts_->functions->frame().all_zero();
}

Occupancy NeuronIndex::occupancy() const {
  return parts_->tables.occupancy();
}
const HashConfig& NeuronIndex::config() const {
  return parts_->config;
}

}  // namespace slide::lsh
