#include "engine/run/similar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "engine/base/error.h"
#include "engine/base/number_text.h"
#include "engine/base/parallel.h"
#include "engine/base/score_key.h"
#include "engine/config/names.h"
#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"
#include "engine/run/vectors.h"

namespace slide {

namespace {

constexpr std::size_t kUnitRowsAtOnce = 1024;
constexpr std::size_t kTogether = 64;       // queries that share a pass over the rows
constexpr std::size_t kMinCandidates = 64;  // of a query, whose exact cosines are computed
constexpr std::size_t kCandidatesOf = 4;    // and for each wanted row
constexpr std::size_t kTileRows = 64;       // rows that stay in the cache meanwhile
constexpr std::size_t kRoomOf = 4;          // candidates that are kept for each wanted one, before a cut
constexpr int kUnsignedZero = 128;          // the byte of a query that stands for 0
constexpr float kMaxByte = 127;

std::size_t vectors_of(const Model& model, SimilarOf of) {
  return of == SimilarOf::kLabels ? model.shape.labels : model.network.sample_features();
}

bool more_similar(const Related& a, const Related& b) {
  return a.score != b.score ? a.score > b.score : a.id < b.id;
}

// Keeps the `count` most similar of the offered rows, in a heap with the worst first.
class BestOf {
 public:
  BestOf(std::size_t count, std::vector<Related>& heap) : count_(count), heap_(&heap) {}
  void offer(const Related& one) {
    if (heap_->size() == count_) {
      if (!more_similar(one, heap_->front())) return;
      std::ranges::pop_heap(*heap_, more_similar);
      heap_->pop_back();
    }
    heap_->push_back(one);
    std::ranges::push_heap(*heap_, more_similar);
  }
  void sort() { std::ranges::sort_heap(*heap_, more_similar); }

 private:
  std::size_t count_;
  std::vector<Related>* heap_;
};

// A score and a row in one number: of two, the smaller one has the higher score, or the lower row with the
// same.
std::uint64_t ranked(float score, std::size_t row) {
  return std::uint64_t{key_of_score(score)} << 32 | static_cast<std::uint32_t>(row);
}
float ranked_score(std::uint64_t one) {
  return score_of_key(static_cast<std::uint32_t>(one >> 32));
}
std::uint32_t ranked_row(std::uint64_t one) {
  return static_cast<std::uint32_t>(one);
}

// Keeps the `wanted` first candidates, in any order; returns the score of the last one that stays.
float cut_candidates(std::vector<std::uint64_t>& candidates, std::size_t wanted) {
  if (candidates.size() < wanted) return -INFINITY;
  const auto last = candidates.begin() + static_cast<std::ptrdiff_t>(wanted) - 1;
  std::ranges::nth_element(candidates, last);
  const float min_score = ranked_score(*last);
  candidates.resize(wanted);
  return min_score;
}

// Appends a candidate, and cuts the array to the `wanted` first ones whenever it is full, which takes a fifth
// of the time of a heap. `min_score`: the score that a further candidate must exceed.
void take_candidate(std::uint64_t one, std::size_t wanted, std::vector<std::uint64_t>& candidates,
                    float& min_score) {
  candidates.push_back(one);
  if (candidates.size() == kRoomOf * wanted) min_score = cut_candidates(candidates, wanted);
}

}  // namespace

// Scales the vectors of all labels or features to unit length: rows_ [size x stride]; zeros stay zeros.
SimilarRows::SimilarRows(const Model& model, SimilarOf of, int threads)
    : size_(vectors_of(model, of)),
      width_(of == SimilarOf::kLabels ? vector_width(model) : feature_width(model)),
      stride_(round_up(width_, kAlignment / sizeof(float))),
      rows_(size_ * stride_) {
  threads = resolve_threads(threads);
  parallel_for((size_ + kUnitRowsAtOnce - 1) / kUnitRowsAtOnce, threads, [&](std::size_t part, int) {
    std::vector<float> vector(std::max(stride_, model.network.output().weights().stride));
    for (std::size_t id = part * kUnitRowsAtOnce; id < std::min(size_, (part + 1) * kUnitRowsAtOnce); ++id) {
      const auto number = static_cast<std::uint32_t>(id);
      of == SimilarOf::kLabels ? label_vector(model, number, vector) : feature_vector(model, number, vector);
      double squares = 0;
      for (std::size_t i = 0; i < width_; ++i) squares += double{vector[i]} * double{vector[i]};
      const double factor = squares > 0 ? 1 / std::sqrt(squares) : 0;
      float* const to = rows_.data() + id * stride_;
      for (std::size_t i = 0; i < width_; ++i) to[i] = static_cast<float>(vector[i] * factor);
    }
  });
}

// Compares some queries with all rows; `best` has a heap for each, its worst first.
void SimilarRows::compare(std::span<const std::uint32_t> ids, std::size_t count,
                          std::vector<Related>* best) const {
  const kernels::KernelSet& kernel = kernels::active();
  for (std::size_t first = 0; first < size_; first += kTileRows) {
    const std::size_t end = std::min(size_, first + kTileRows);
    for (std::size_t q = 0; q < ids.size(); ++q) {
      const float* const own = row(ids[q]);
      BestOf heap(count, best[q]);
      for (std::size_t other = first; other < end; ++other) {
        const Related one{static_cast<std::uint32_t>(other), kernel.dot(own, row(other), stride_)};
        if (one.score != 0 && other != ids[q]) heap.offer(one);
      }
      if (end == size_) heap.sort();
    }
  }
}

std::vector<std::vector<Related>> SimilarRows::nearest(const std::vector<std::uint32_t>& ids,
                                                       std::size_t count, int threads) const {
  std::vector<std::vector<Related>> all(ids.size());
  parallel_for((ids.size() + kTogether - 1) / kTogether, resolve_threads(threads),
               [&](std::size_t group, int) {
                 const std::size_t first = group * kTogether;
                 compare(std::span(ids).subspan(first, std::min(kTogether, ids.size() - first)), count,
                         all.data() + first);
               });
  return all;
}

void SimilarRows::centre(const float* row, float* to) const {
  for (std::size_t i = 0; i < width_; ++i) to[i] = row[i] - mean_[i];
}

// Rounds the rows, less their mean, to q_ [size x q_stride]: shorter rows have smaller rounding errors, and
// subtracting the mean changes no distance.
void SimilarRows::round_rows(int threads) {
  if (rounded_ || size_ < kMinRounded || width_ > kernels::kMaxInt8Columns) return;
  rounded_ = true;
  std::vector<double> sums(width_);
  for (std::size_t id = 0; id < size_; ++id) {
    for (std::size_t i = 0; i < width_; ++i) sums[i] += double{row(id)[i]};
  }
  mean_.resize(width_);
  for (std::size_t i = 0; i < width_; ++i)
    mean_[i] = static_cast<float>(sums[i] / static_cast<double>(size_));
  q_stride_ = round_up(width_, kernels::kPairGroup);
  q_ = AlignedArray<std::int8_t>(size_ * q_stride_);
  exponents_.resize(size_);
  starts_.resize(size_);
  shift_.resize(size_);
  parallel_for((size_ + kUnitRowsAtOnce - 1) / kUnitRowsAtOnce, resolve_threads(threads),
               [&](std::size_t part, int) {
                 std::vector<float> centred(q_stride_);
                 const std::size_t first = part * kUnitRowsAtOnce;
                 for (std::size_t id = first; id < std::min(size_, first + kUnitRowsAtOnce); ++id)
                   round_row(id, centred);
               });
}

// `centred`: scratch of q_stride_ floats, zeros beyond width_.
void SimilarRows::round_row(std::size_t id, std::vector<float>& centred) {
  const kernels::KernelSet& kernel = kernels::active();
  centre(row(id), centred.data());
  std::int8_t* const quantized = q_.data() + id * q_stride_;
  exponents_[id] = static_cast<std::int8_t>(kernel.narrow_int8(centred.data(), width_, quantized));
  starts_[id] = -kUnsignedZero * std::accumulate(quantized, quantized + q_stride_, 0);
  const bool is_zero = kernel.dot(row(id), row(id), stride_) == 0;
  shift_[id] = is_zero ? -INFINITY : -0.5F * kernel.dot(centred.data(), centred.data(), width_);
}

// Rounds query `q` of `queries`, row `id` less the mean, to unsigned bytes that stand for -kMaxByte to
// kMaxByte. Layout of the words: [q_stride_ / 4][queries], each of four successive columns, the first in the
// lowest byte.
void SimilarRows::round_query(std::size_t q, std::size_t queries, std::uint32_t id, Search& search) const {
  float* const centred = search.centred.data();
  centre(row(id), centred);
  float largest = 0;
  for (std::size_t i = 0; i < width_; ++i) largest = std::max(largest, std::fabs(centred[i]));
  const float factor = largest > 0 ? kMaxByte / largest : 0;
  search.steps.data()[q] = largest / kMaxByte;
  for (std::size_t c = 0; c < q_stride_; c += 4) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      const float one = c + i < width_ ? centred[c + i] : 0;
      const auto byte = static_cast<std::int32_t>(one * factor + (kUnsignedZero + 0.5F));  // to the nearest
      word |= static_cast<std::uint32_t>(byte) << (8 * i);
    }
    search.words.data()[c / 4 * queries + q] = word;
  }
}

// z[row][query] of some rounded rows and all queries: the larger, the nearer.
void SimilarRows::compare_rounded(std::size_t first, std::size_t count, std::size_t queries,
                                  const Search& search, float* z) const {
  kernels::active().rows_forward_int8({q_.data() + first * q_stride_, q_stride_, exponents_.data() + first},
                                      count, starts_.data() + first, shift_.data() + first,
                                      {search.words.data(), search.steps.data(), q_stride_, queries}, z);
}

// Candidates of one query.
void SimilarRows::search_alone(std::uint32_t id, std::size_t wanted, Search& search) const {
  round_query(0, 1, id, search);
  std::array<float, kTileRows> z;
  float min_score = -INFINITY;
  for (std::size_t first = 0; first < size_; first += kTileRows) {
    const std::size_t count = std::min(kTileRows, size_ - first);
    compare_rounded(first, count, 1, search, z.data());
    for (std::size_t r = 0; r < count; ++r) {
      if (z[r] > min_score) take_candidate(ranked(z[r], first + r), wanted, search.candidates[0], min_score);
    }
  }
}

// Candidates of several queries, which share a pass over the rows.
void SimilarRows::search_together(std::span<const std::uint32_t> ids, std::size_t wanted,
                                  Search& search) const {
  if (search.z.size() == 0) {
    search.z = AlignedArray<float>(kTileRows * kTogether);
    search.min_score = AlignedArray<float>(kTogether);
    search.hits = AlignedArray<std::uint32_t>(kTileRows * kTogether + 1);
  }
  float *const z = search.z.data(), *const min_score = search.min_score.data();
  std::uint32_t* const hits = search.hits.data();
  for (std::size_t q = 0; q < ids.size(); ++q) round_query(q, kTogether, ids[q], search);
  std::fill_n(min_score, ids.size(), -INFINITY);
  std::fill(min_score + ids.size(), min_score + kTogether, INFINITY);
  for (std::size_t first = 0; first < size_; first += kTileRows) {
    const std::size_t count = std::min(kTileRows, size_ - first);
    compare_rounded(first, count, kTogether, search, z);
    const std::size_t found = kernels::active().select_above(z, count, kTogether, min_score, hits);
    for (const std::uint32_t hit : std::span(hits, found)) {
      const std::size_t q = hit % kTogether;
      if (z[hit] > min_score[q])
        take_candidate(ranked(z[hit], first + hit / kTogether), wanted, search.candidates[q], min_score[q]);
    }
  }
}

void SimilarRows::rescore(std::uint32_t id, std::span<const std::uint64_t> candidates, std::size_t count,
                          std::vector<Related>& best) const {
  BestOf exact(count, best);
  for (const std::uint64_t one : candidates) {
    const std::uint32_t other = ranked_row(one);
    const float cosine = kernels::active().dot(row(id), row(other), stride_);
    if (other != id && cosine != 0) exact.offer({other, cosine});
  }
  exact.sort();
}

// With rounded rows: candidates by rounded products, kTogether queries at a time, then exact cosines of
// these.
std::vector<std::vector<Related>> SimilarRows::search(const std::vector<std::uint32_t>& ids,
                                                      std::size_t count, int threads) const {
  if (!rounded_) return nearest(ids, count, threads);
  std::vector<std::vector<Related>> all(ids.size());
  const std::size_t wanted = std::min(size_, std::max(kMinCandidates, kCandidatesOf * count) + 1);
  std::vector<Search> own(static_cast<std::size_t>(resolve_threads(threads)));
  parallel_for((ids.size() + kTogether - 1) / kTogether, static_cast<int>(own.size()),
               [&](std::size_t group, int thread) {
                 Search& search = own[static_cast<std::size_t>(thread)];
                 if (search.candidates.empty()) {
                   search.centred = AlignedArray<float>(q_stride_);
                   search.words = AlignedArray<std::uint32_t>(q_stride_ / 4 * kTogether);
                   search.steps = AlignedArray<float>(kTogether);
                   search.candidates.resize(kTogether);
                 }
                 for (auto& candidates : search.candidates) candidates.clear();
                 const std::size_t first = group * kTogether;
                 const auto some = std::span(ids).subspan(first, std::min(kTogether, ids.size() - first));
                 some.size() == 1 ? search_alone(some[0], wanted, search)
                                  : search_together(some, wanted, search);
                 for (std::size_t q = 0; q < some.size(); ++q) {
                   cut_candidates(search.candidates[q], wanted);
                   rescore(some[q], search.candidates[q], count, all[first + q]);
                 }
               });
  return all;
}

SimilarNames::SimilarNames(const Model& model, SimilarOf of)
    : model_(model), of_(of), size_(vectors_of(model, of)) {
  if (of == SimilarOf::kLabels || model.text == nullptr) return;
  for (std::uint32_t id = 0; id < size_; ++id) features_.emplace(feature_text(model, id), id);
}

std::optional<std::uint32_t> SimilarNames::find(const std::string& name) const {
  if (model_.text == nullptr) {  // names are numbers
    const auto id = number_of<std::uint32_t>(name);
    return id && *id < size_ ? id : std::nullopt;
  }
  if (of_ == SimilarOf::kLabels) return model_.text->label_id(name);
  const auto found = features_.find(name);
  return found != features_.end() ? std::optional(found->second) : std::nullopt;
}

std::uint32_t SimilarNames::id_of(const std::string& name) const {
  if (const auto id = find(name)) return *id;
  fail_input("{}", fault_of(name));
}

std::string SimilarNames::fault_of(const std::string& name, bool suggest) const {
  const char* const what = of_ == SimilarOf::kLabels ? "label" : "feature";
  std::string fault = fmt::format("there is no {} '{}' in the model", what, name);
  if (!named()) return fault + fmt::format("; its {}s have numbers from 0 to {}", what, size_ - 1);
  const auto other = [this](std::size_t id) { return name_of(static_cast<std::uint32_t>(id)); };
  return suggest ? fault + config::suggestion(config::near_name(name, size_, other)) : fault;
}

std::string SimilarNames::name_of(std::uint32_t id) const {
  return of_ == SimilarOf::kLabels ? label_text(model_, id) : feature_text(model_, id);
}

}  // namespace slide
