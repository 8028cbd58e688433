#include "engine/knn/dense_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {

constexpr std::size_t kScoredAtOnce = 256;  // rows per tile: their scores for all queries stay in cache

bool is_more_similar(const DenseSamples::Similar& a, const DenseSamples::Similar& b) {
  return a.first > b.first || (a.first == b.first && a.second < b.second);
}

// Keeps the `limit` largest; returns the smallest of them.
float keep_most_similar(std::size_t limit, std::vector<DenseSamples::Similar>& best) {
  std::nth_element(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(limit - 1), best.end(),
                   is_more_similar);
  best.resize(limit);
  return best.back().first;
}

std::size_t words_of(std::size_t columns) {
  return round_up(columns, kernels::kPairGroup) / 2;
}

}  // namespace

DenseSamples::DenseSamples(std::size_t columns, std::size_t rows)
    : columns_(columns),
      rows_(rows),
      stride_(words_of(columns)),
      words_(std::make_shared<AlignedArray<std::uint32_t>>(rows * stride_)) {}

double DenseSamples::bytes_of(double columns, double rows) {
  return rows * double(words_of(static_cast<std::size_t>(columns))) * sizeof(std::uint32_t);
}

void DenseSamples::set_row(std::size_t i, const float* values) {
  kernels::active().narrow_nearest(values, columns_, words_->data() + i * stride_);
}

void DenseSamples::copy_row(std::size_t i, const DenseSamples& from, std::size_t row) {
  std::copy_n(from.words(row), stride_, words_->data() + i * stride_);
}

DenseSamples DenseSamples::chosen(std::span<const std::uint32_t> rows) const {
  DenseSamples some(columns_, rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) some.copy_row(i, *this, rows[i]);
  return some;
}

DenseSamples DenseSamples::with(const DenseSamples& more) const {
  DenseSamples all(columns_, rows_ + more.rows_);
  for (std::size_t i = 0; i < rows_; ++i) all.copy_row(i, *this, i);
  for (std::size_t i = 0; i < more.rows_; ++i) all.copy_row(rows_ + i, more, i);
  return all;
}

void DenseSamples::get_row(std::size_t i, float* values) const {
  kernels::active().widen(words(i), columns_, values);
}

bool DenseSamples::same_row(std::size_t i, const DenseSamples& other, std::size_t row) const {
  return columns_ == other.columns_ && std::equal(words(i), words(i) + stride_, other.words(row));
}

// Copies the queries at unit length; pads the lanes with zeros. Thresholds: 0 for a query; infinite for
// padding and zero queries, so that no row is selected for them.
void DenseSamples::take_queries(const float* x, std::size_t ldx, std::size_t queries, std::size_t lanes,
                                Scratch& scratch) const {
  if (scratch.queries.size() < lanes * columns_) {
    scratch.queries = AlignedArray<float>(lanes * columns_);
    scratch.queries_t = AlignedArray<float>(lanes * columns_);
    scratch.scores = AlignedArray<float>(lanes * kScoredAtOnce);
    scratch.hits.resize(lanes * kScoredAtOnce + 1);
  }
  scratch.threshold.assign(lanes, std::numeric_limits<float>::infinity());
  float* to = scratch.queries.data();
  std::fill(to + queries * columns_, to + lanes * columns_, 0.0F);
  for (std::size_t q = 0; q < queries; ++q, to += columns_) {
    const float* from = x + q * ldx;
    double square = 0.0;
    for (std::size_t c = 0; c < columns_; ++c) square += double{from[c]} * double{from[c]};
    const double scale = square > 0 ? 1.0 / std::sqrt(square) : 0.0;
    for (std::size_t c = 0; c < columns_; ++c) to[c] = static_cast<float>(scale * from[c]);
    if (square > 0) scratch.threshold[q] = 0.0F;
  }
  kernels::active().transpose(scratch.queries.data(), columns_, lanes, columns_, lanes,
                              scratch.queries_t.data());
}

// Scores kScoredAtOnce rows for all queries at a time, as a matrix product, and collects the scores above
// the threshold of their query. The threshold rises to the limit-th best score whenever 2 * limit are
// collected.
void DenseSamples::find(const float* x, std::size_t ldx, std::size_t queries, std::size_t limit,
                        Scratch& scratch) const {
  const auto& k = kernels::active();
  const std::size_t lanes = round_up(queries, kernels::kLaneMultiple);
  take_queries(x, ldx, queries, lanes, scratch);
  if (scratch.numbers.empty()) {
    scratch.numbers.resize(kScoredAtOnce);
    std::iota(scratch.numbers.begin(), scratch.numbers.end(), 0U);
  }
  if (scratch.best.size() < queries) scratch.best.resize(queries);
  for (auto& best : scratch.best) best.clear();
  for (std::size_t first = 0; first < rows_; first += kScoredAtOnce) {
    const std::size_t count = std::min(kScoredAtOnce, rows_ - first);
    k.rows_forward_bf16(words(first), stride_, scratch.numbers.data(), count, nullptr,
                        scratch.queries_t.data(), columns_, lanes, scratch.scores.data());
    const std::size_t hits =
        k.select_above(scratch.scores.data(), count, lanes, scratch.threshold.data(), scratch.hits.data());
    for (std::size_t h = 0; h < hits; ++h) {
      const std::size_t at = scratch.hits[h], q = at % lanes;
      auto& best = scratch.best[q];
      best.emplace_back(scratch.scores[at], static_cast<std::uint32_t>(first + at / lanes));
      if (best.size() == 2 * limit) scratch.threshold[q] = keep_most_similar(limit, best);
    }
  }
  for (std::size_t q = 0; q < queries; ++q) {
    if (scratch.best[q].size() > limit) keep_most_similar(limit, scratch.best[q]);
  }
}

// cos = row . query in fp32: both have unit length.
std::span<const DenseSamples::Similar> DenseSamples::compare(std::size_t q, Scratch& scratch) const {
  const auto& k = kernels::active();
  auto& best = scratch.best[q];
  if (scratch.row.size() < columns_) scratch.row = AlignedArray<float>(columns_);
  for (auto& [similarity, row] : best) {
    k.widen(words(row), columns_, scratch.row.data());
    similarity = std::min(1.0F, k.dot(scratch.row.data(), scratch.queries.data() + q * columns_, columns_));
  }
  std::erase_if(best, [](const Similar& one) { return !(one.first > 0); });
  std::ranges::sort(best, is_more_similar);
  return best;
}

}  // namespace slide
