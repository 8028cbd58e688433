#include "engine/run/similar.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"
#include "engine/run/vectors.h"

namespace slide {

namespace {

constexpr std::size_t kUnitRowsAtOnce = 1024;
constexpr std::size_t kTogether = 16;   // queries that share a pass over the rows
constexpr std::size_t kTileRows = 128;  // rows that stay in the cache meanwhile

std::size_t vectors_of(const Model& model, SimilarOf of) {
  return of == SimilarOf::kLabels ? model.shape.labels : model.network.sample_features();
}

bool more_similar(const Related& a, const Related& b) {
  return a.score != b.score ? a.score > b.score : a.id < b.id;
}

}  // namespace

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
  const kernels::KernelSet& k = kernels::active();
  for (std::size_t first = 0; first < size_; first += kTileRows) {
    const std::size_t end = std::min(size_, first + kTileRows);
    for (std::size_t q = 0; q < ids.size(); ++q) {
      const float* const own = row(ids[q]);
      std::vector<Related>& heap = best[q];
      for (std::size_t other = first; other < end; ++other) {
        const Related one{static_cast<std::uint32_t>(other), k.dot(own, row(other), stride_)};
        if (one.score == 0 || other == ids[q]) continue;
        if (heap.size() == count) {
          if (!more_similar(one, heap.front())) continue;
          std::ranges::pop_heap(heap, more_similar);
          heap.pop_back();
        }
        heap.push_back(one);
        std::ranges::push_heap(heap, more_similar);
      }
      if (end == size_) std::ranges::sort_heap(heap, more_similar);
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

SimilarNames::SimilarNames(const Model& model, SimilarOf of)
    : model_(model), of_(of), size_(vectors_of(model, of)) {
  if (of == SimilarOf::kLabels || model.text == nullptr) return;
  for (std::uint32_t id = 0; id < size_; ++id) features_.emplace(feature_text(model, id), id);
}

std::uint32_t SimilarNames::id_of(const std::string& name) const {
  const char* const what = of_ == SimilarOf::kLabels ? "label" : "feature";
  if (model_.text != nullptr && of_ == SimilarOf::kLabels) {
    if (const auto id = model_.text->label_id(name)) return *id;
    fail_input("there is no {} '{}' in the model", what, name);
  }
  if (model_.text != nullptr) {
    if (const auto found = features_.find(name); found != features_.end()) return found->second;
    fail_input("there is no {} '{}' in the model", what, name);
  }
  std::uint32_t id = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, id);
  if (error == std::errc() && stop == end && id < size_) return id;
  fail_input("there is no {0} '{1}' in the model; its {0}s have numbers from 0 to {2}", what, name,
             size_ - 1);
}

std::string SimilarNames::name_of(std::uint32_t id) const {
  return of_ == SimilarOf::kLabels ? label_text(model_, id) : feature_text(model_, id);
}

}  // namespace slide
