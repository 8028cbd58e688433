// Search for the most similar labels (items) or features (words), by the cosine of their vectors (vectors.h).
// After construction and round_rows(), safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/model/model.h"
#include "engine/run/label_view.h"

namespace slide {

enum class SimilarOf { kLabels, kFeatures };

// Max number of unknown names of a request for which a near name is suggested.
inline constexpr std::size_t kMaxSuggested = 3;

// Unit vectors of all labels or features; for search() also their differences from the mean row, in 8 bits.
class SimilarRows {
 public:
  // Below this number of rows, search() has no advantage over nearest().
  static constexpr std::size_t kMinRounded = 20000;

  // Memory: 4 * width bytes a row, the width rounded up to a cache line. Throws InputError where the model
  // has no such vectors.
  SimilarRows(const Model& model, SimilarOf of, int threads);

  std::size_t size() const { return size_; }

  // Returns for each of `ids` up to `count` other rows by decreasing cosine, ties by id. Rows of zeros get no
  // answer and are in no answer. O(ids * size * width / threads).
  std::vector<std::vector<Related>> nearest(const std::vector<std::uint32_t>& ids, std::size_t count,
                                            int threads) const;

  // Quantizes the rows to int8 for search(); no effect below kMinRounded rows or
  // above kernels::kMaxInt8Columns columns. Not safe during other calls.
  // Memory: width + 9 bytes a row.
  void round_rows(int threads);
  // Approximate nearest(): ranks all rows by int8 distances, then the first max(64, 4 * count) by exact
  // cosines. Without quantized rows, nearest() itself.
  std::vector<std::vector<Related>> search(const std::vector<std::uint32_t>& ids, std::size_t count,
                                           int threads) const;

 private:
  // Working memory of a thread in search().
  struct Search {
    AlignedArray<float> centred;                         // a query less the mean
    AlignedArray<std::uint32_t> words;                   // kernels::ByteSamples
    AlignedArray<float> steps;                           // of the queries
    AlignedArray<float> z;                               // [rows of a tile][queries]
    AlignedArray<float> min_score;                       // of the candidates, by query
    AlignedArray<std::uint32_t> hits;                    // places of a tile where a row may be a candidate
    std::vector<std::vector<std::uint64_t>> candidates;  // by query: a score and a row each
  };

  const float* row(std::size_t id) const { return rows_.data() + id * stride_; }
  void compare(std::span<const std::uint32_t> ids, std::size_t count, std::vector<Related>* best) const;
  void centre(const float* row, float* to) const;
  void round_row(std::size_t id, std::vector<float>& centred);
  void round_query(std::size_t q, std::size_t queries, std::uint32_t id, Search& search) const;
  void compare_rounded(std::size_t first, std::size_t count, std::size_t queries, const Search& search,
                       float* z) const;
  void search_alone(std::uint32_t id, std::size_t wanted, Search& search) const;
  void search_together(std::span<const std::uint32_t> ids, std::size_t wanted, Search& search) const;
  void rescore(std::uint32_t id, std::span<const std::uint64_t> candidates, std::size_t count,
               std::vector<Related>& best) const;

  std::size_t size_, width_, stride_;
  AlignedArray<float> rows_;
  // Rounded: the nearest rows r of q have the largest (q - mean)(r - mean) - |r - mean|^2 / 2.
  bool rounded_ = false;
  std::vector<float> mean_;
  std::size_t q_stride_ = 0;
  AlignedArray<std::int8_t> q_;
  std::vector<std::int8_t> exponents_;
  std::vector<std::int32_t> starts_;  // correction of dot products for queries stored as unsigned bytes
  std::vector<float> shift_;          // -|r - mean|^2 / 2; minus infinity for rows of zeros
};

// Ids of labels or features by name, or by number where they have none.
class SimilarNames {
 public:
  SimilarNames(const Model& model, SimilarOf of);
  // nullopt where there is no such name or number.
  std::optional<std::uint32_t> find(const std::string& name) const;
  // Throws InputError there, with fault_of().
  std::uint32_t id_of(const std::string& name) const;
  // The error message for an unknown name; with a near name if `suggest`, which takes O(labels).
  std::string fault_of(const std::string& name, bool suggest = true) const;
  std::string name_of(std::uint32_t id) const;
  bool named() const { return model_.text != nullptr; }

 private:
  const Model& model_;
  SimilarOf of_;
  std::size_t size_;
  std::unordered_map<std::string, std::uint32_t> features_;  // of text
};

}  // namespace slide
