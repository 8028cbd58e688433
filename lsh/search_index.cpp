#include "lsh/search_index.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/prefetch.h"
#include "engine/base/rng.h"
#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"
#include "lsh/hash_functions.h"

namespace slide::lsh {

namespace {

constexpr std::size_t kTables = 32;
constexpr std::size_t kProbes = 2;          // buckets probed per table
constexpr std::size_t kLogBucket = 5;       // a bucket holds 2^4 to 2^5 neurons on average
constexpr std::size_t kMaxBits = 16;        // of a fingerprint; above 2^21 neurons, buckets grow
constexpr std::size_t kAlwaysPart = 24;     // one of this many neurons is always scored
constexpr std::size_t kFewNeurons = 4096;   // below: no neuron is always scored
constexpr std::size_t kRowsOfTask = 1024;   // rows per task
constexpr std::size_t kFunctionTile = 128;  // functions projected together: their sums stay in cache
constexpr std::size_t kFew = 32;            // ids found once are taken up to this many ids
constexpr std::size_t kFewPart = 8;         // or up to wanted / kFewPart
constexpr std::size_t kBucketsAhead = 8;    // prefetch distance, in buckets

std::size_t tasks(std::size_t rows) {
  return (rows + kRowsOfTask - 1) / kRowsOfTask;
}

// Calls use(id, row) for the rows of a task, in ascending order.
template <class Use>
void each_row(const WeightRows& rows, std::size_t dim, std::size_t neurons, std::size_t task, Use&& use) {
  std::vector<float> buffer(dim);
  for (std::size_t i = task * kRowsOfTask; i < std::min(neurons, (task + 1) * kRowsOfTask); ++i) {
    use(i, fetch_row(rows, dim, i, buffer.data()));
  }
}

// The mean of all rows, followed by the mean bias. Summed by task, then in task order: independent of
// threads.
std::vector<double> mean_row(const WeightRows& rows, std::size_t dim, std::span<const float> biases,
                             int threads) {
  const std::size_t n = biases.size();
  std::vector<std::vector<double>> sums(tasks(n), std::vector<double>(dim + 1));
  parallel_for(sums.size(), threads, [&](std::size_t task, int) {
    std::vector<double>& sum = sums[task];
    each_row(rows, dim, n, task, [&](std::size_t i, const float* row) {
      for (std::size_t d = 0; d < dim; ++d) sum[d] += row[d];
      sum[dim] += biases[i];
    });
  });
  std::vector<double> mean(dim + 1);
  for (const auto& sum : sums) {
    for (std::size_t d = 0; d <= dim; ++d) mean[d] += sum[d] / double(n);
  }
  return mean;
}

}  // namespace

SearchIndex::SearchIndex(const WeightRows& rows, std::size_t dim, std::span<const float> biases,
                         std::uint64_t seed, int threads)
    : neurons_(biases.size()),
      dim_(dim),
      k_(std::clamp<std::size_t>(static_cast<std::size_t>(std::bit_width(biases.size())), 1 + kLogBucket,
                                 kMaxBits + kLogBucket) -
         kLogBucket),
      stride_(round_up(dim, kernels::kPairGroup) / 2),
      projections_(kTables * k_ * stride_),
      bias_projections_(kTables * k_),
      functions_(kTables * k_) {
  if (neurons_ == 0 || neurons_ >= UINT32_MAX) {
    fail_input("a search index over {} neurons: must be 1 to 2^32 - 2", neurons_);
  }
  std::iota(functions_.begin(), functions_.end(), 0U);
  draw(seed);
  choose_always(rows, biases, threads);
  AlignedArray<std::uint16_t> codes(kTables * neurons_);
  hash_rows(rows, biases, codes.data(), threads);
  starts_ = AlignedArray<std::uint32_t>(kTables * ((std::size_t{1} << k_) + 1));
  ids_ = AlignedArray<std::uint32_t>(kTables * filed_.size());
  parallel_for(kTables, threads, [&](std::size_t t, int) { fill(t, codes.data() + t * neurons_); });
}

void SearchIndex::draw(std::uint64_t seed) {
  for (std::size_t p = 0; p < functions_.size(); ++p) {
    Rng rng(seed, Purpose::kHashFunctions, UINT64_MAX, p);
    std::uint32_t* row = projections_.data() + p * stride_;
    for (std::size_t d = 0; d < dim_; ++d)
      kernels::set_nearest_pair_value(row, d, static_cast<float>(rng.normal()));
    bias_projections_[p] = static_cast<float>(rng.normal());
  }
}

// Selects the rows farthest from the mean row: the component that all rows share does not affect the ranking.
void SearchIndex::choose_always(const WeightRows& rows, std::span<const float> biases, int threads) {
  const std::vector<double> mean_values = mean_row(rows, dim_, biases, threads);
  const std::vector<float> mean(mean_values.begin(), mean_values.end());
  std::vector<float> length(neurons_);
  parallel_for(tasks(neurons_), threads, [&](std::size_t task, int) {
    std::vector<float> x(dim_);
    each_row(rows, dim_, neurons_, task, [&](std::size_t i, const float* row) {
      std::copy_n(row, dim_, x.data());
      kernels::active().axpy(-1.0F, mean.data(), dim_, x.data());
      const float bias = biases[i] - mean[dim_];
      const float sum = kernels::active().dot(x.data(), x.data(), dim_) + bias * bias;
      length[i] = std::isfinite(sum) ? sum : 0.0F;
    });
  });
  const std::size_t chosen = neurons_ < kFewNeurons ? 0 : neurons_ / kAlwaysPart;
  std::vector<float> sorted = length;
  const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(chosen);
  std::nth_element(sorted.begin(), last, sorted.end(), std::greater<>());
  const float bound = chosen < neurons_ ? *last : 0.0F;  // all longer rows are selected
  std::size_t equal = chosen - static_cast<std::size_t>(std::count_if(length.begin(), length.end(),
                                                                      [&](float l) { return l > bound; }));
  for (std::uint32_t i = 0; i < neurons_; ++i) {
    const bool longer = length[i] > bound;
    const bool taken = longer || (length[i] == bound && equal > 0);
    equal -= taken && !longer ? 1 : 0;
    (taken ? always_ : filed_).push_back(i);
  }
}

// codes[t * neurons_ + i]: fingerprint of row i in table t.
void SearchIndex::hash_rows(const WeightRows& rows, std::span<const float> biases, std::uint16_t* codes,
                            int threads) const {
  struct Scratch {
    AlignedArray<float> xt, z, rows;
  };
  std::vector<Scratch> scratch(static_cast<std::size_t>(std::max(threads, 1)));
  for (Scratch& s : scratch) {
    s = {AlignedArray<float>(dim_ * kRowLanes), AlignedArray<float>(functions_.size() * kRowLanes),
         AlignedArray<float>(rows.fp32 == nullptr ? dim_ * kRowLanes : 0)};
  }
  const auto hash_block = [&](std::size_t first, Scratch& s) {
    const std::size_t size = std::min(kRowLanes, neurons_ - first);
    pack_rows({rows, nullptr, first, size}, dim_, s.rows.data(), s.xt.data());
    for (std::size_t p = 0; p < functions_.size(); p += kFunctionTile) {
      const std::size_t count = std::min(kFunctionTile, functions_.size() - p);
      kernels::active().rows_forward_bf16(projections_.data(), stride_, functions_.data() + p, count, nullptr,
                                          s.xt.data(), dim_, kRowLanes, s.z.data() + p * kRowLanes);
    }
    std::array<float, kRowLanes> bias{};
    std::copy_n(biases.begin() + static_cast<std::ptrdiff_t>(first), size, bias.begin());
    for (std::size_t t = 0; t < kTables; ++t) {
      std::array<std::uint32_t, kRowLanes> prints;
      kernels::active().pack_signs(s.z.data() + t * k_ * kRowLanes, bias_projections_.data() + t * k_,
                                   bias.data(), k_, kRowLanes, prints.data(), nullptr);
      std::uint16_t* out = codes + t * neurons_ + first;
      for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint16_t>(prints[i]);
    }
  };
  parallel_for(tasks(neurons_), threads, [&](std::size_t task, int thread) {
    const std::size_t end = std::min(neurons_, (task + 1) * kRowsOfTask);
    for (std::size_t i = task * kRowsOfTask; i < end; i += kRowLanes) {
      hash_block(i, scratch[static_cast<std::size_t>(thread)]);
    }
  });
}

// Fills one table by counting sort.
void SearchIndex::fill(std::size_t table, const std::uint16_t* codes) {
  const std::size_t buckets = std::size_t{1} << k_;
  std::uint32_t* starts = starts_.data() + table * (buckets + 1);
  std::uint32_t* ids = ids_.data() + table * filed_.size();
  for (const std::uint32_t id : filed_) ++starts[codes[id] + 1];
  std::partial_sum(starts, starts + buckets + 1, starts);
  std::vector<std::uint32_t> next(starts, starts + buckets);
  for (const std::uint32_t id : filed_) ids[next[codes[id]]++] = id;
}

SearchScratch SearchIndex::make_scratch(std::size_t lanes) const {
  SearchScratch scratch;
  scratch.projections = AlignedArray<float>(functions_.size() * lanes);
  scratch.prints.resize(kTables * lanes);
  scratch.least_certain.resize(kTables * lanes);
  scratch.buckets.resize(kTables * kProbes);
  scratch.counts.resize(neurons_);
  scratch.repeated.resize(neurons_ + 1);
  return scratch;
}

void SearchIndex::project(const QueryBlock& block, SearchScratch& scratch) const {
  if (block.inner != dim_) fail_run("a query of width {} to an index of width {}", block.inner, dim_);
  kernels::active().rows_forward_bf16(projections_.data(), stride_, functions_.data(), functions_.size(),
                                      bias_projections_.data(), block.xt, dim_, block.lanes,
                                      scratch.projections.data());
  for (std::size_t t = 0; t < kTables; ++t) {
    kernels::active().pack_signs(scratch.projections.data() + t * k_ * block.lanes, nullptr, nullptr, k_,
                                 block.lanes, scratch.prints.data() + t * block.lanes,
                                 scratch.least_certain.data() + t * block.lanes);
  }
}

// Finds the two buckets to probe in every table; prefetches all their bounds before reading them.
void SearchIndex::list_buckets(std::size_t sample, std::size_t lanes, SearchScratch& scratch) const {
  const std::size_t stride = (std::size_t{1} << k_) + 1;
  std::array<const std::uint32_t*, kTables * kProbes> starts;
  for (std::size_t t = 0; t < kTables; ++t) {
    const std::uint32_t print = scratch.prints[t * lanes + sample];
    const std::uint32_t* table = starts_.data() + t * stride;
    starts[t * kProbes] = table + print;
    starts[t * kProbes + 1] = table + (print ^ scratch.least_certain[t * lanes + sample]);
    for (std::size_t i = 0; i < kProbes; ++i) prefetch(starts[t * kProbes + i]);
  }
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::uint32_t* start = starts[i];
    scratch.buckets[i] = {ids_.data() + i / kProbes * filed_.size() + start[0], start[1] - start[0]};
  }
}

// Counts the buckets that contain each id; returns the number of ids in scratch.repeated: ids found at least
// twice, in order of discovery. Most ids are found once.
std::size_t SearchIndex::count(SearchScratch& scratch) const {
  std::uint16_t* counts = scratch.counts.data();
  const std::uint16_t none = scratch.none;
  const std::uint16_t once = none + 1;
  std::uint32_t* repeated = scratch.repeated.data();
  std::size_t size = 0;
  for (std::size_t i = 0; i < scratch.buckets.size(); ++i) {
    if (i + kBucketsAhead < scratch.buckets.size()) {
      const std::span<const std::uint32_t> ahead = scratch.buckets[i + kBucketsAhead];
      prefetch(ahead.data());
      prefetch(ahead.data() + kAlignment / sizeof(std::uint32_t));
    }
    for (const std::uint32_t id : scratch.buckets[i]) {
      const std::uint16_t before = std::max(counts[id], none);
      repeated[size] = id;
      size += before == once ? 1 : 0;
      counts[id] = before + 1;
    }
  }
  return size;
}

void SearchIndex::find(std::size_t sample, std::size_t lanes, std::size_t wanted, SearchScratch& scratch,
                       std::vector<std::uint32_t>& out) const {
  out.clear();
  out.reserve(std::min(wanted, neurons_));  // no allocation fails after counting has begun
  list_buckets(sample, lanes, scratch);
  const std::span<const std::uint32_t> repeated(scratch.repeated.data(), count(scratch));
  const auto times_of = [&](std::uint32_t id) -> std::size_t { return scratch.counts[id] - scratch.none; };
  std::array<std::size_t, kTables + 2> ids_of{};  // by count
  for (const std::uint32_t id : repeated) ++ids_of[times_of(id)];
  // all ids of larger counts are taken, and `room` of this count
  std::size_t least = kTables + 1, room = wanted;
  while (least > 1 && ids_of[least] <= room) room -= ids_of[least--];
  for (const std::uint32_t id : repeated) {
    const std::size_t times = times_of(id);
    if (times < least || (times == least && room == 0)) continue;
    room -= times == least ? 1 : 0;
    out.push_back(id);
  }
  const std::size_t enough = std::min(wanted, std::max(kFew, wanted / kFewPart));
  for (std::size_t i = 0; i < scratch.buckets.size() && out.size() < enough; ++i) {
    for (const std::uint32_t id : scratch.buckets[i]) {
      if (times_of(id) == 1 && out.size() < enough) out.push_back(id);
    }
  }
  if (scratch.none + 2 * kTables > UINT16_MAX) {
    std::fill(scratch.counts.begin(), scratch.counts.end(), std::uint16_t{0});
    scratch.none = 0;
  } else {
    scratch.none += kTables;
  }
}

std::size_t SearchIndex::bytes() const {
  return projections_.bytes() + bias_projections_.size() * sizeof(float) + starts_.bytes() + ids_.bytes() +
         (functions_.size() + always_.size() + filed_.size()) * sizeof(std::uint32_t);
}

}  // namespace slide::lsh
