// The most similar labels (items), or features (words), of many: by the cosine of their vectors (vectors.h).
//
// Immutable once it is made: safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/model/model.h"
#include "engine/run/label_view.h"

namespace slide {

enum class SimilarOf { kLabels, kFeatures };

// Unit vectors of all labels or features.
class SimilarRows {
 public:
  // Memory: 4 * width bytes a row, the width rounded up to a cache line. Throws InputError where the model
  // has no such vectors.
  SimilarRows(const Model& model, SimilarOf of, int threads);

  std::size_t size() const { return size_; }

  // For each of `ids`, up to `count` others by falling cosine, ties by id; rows of zeros have none and are
  // none. O(ids * size * width), by the threads.
  std::vector<std::vector<Related>> nearest(const std::vector<std::uint32_t>& ids, std::size_t count,
                                            int threads) const;

 private:
  const float* row(std::size_t id) const { return rows_.data() + id * stride_; }
  void compare(std::span<const std::uint32_t> ids, std::size_t count, std::vector<Related>* best) const;

  std::size_t size_, width_, stride_;
  AlignedArray<float> rows_;
};

// Ids of labels or features by name, or by number where they have none.
class SimilarNames {
 public:
  SimilarNames(const Model& model, SimilarOf of);
  // Throws InputError where there is no such name or number.
  std::uint32_t id_of(const std::string& name) const;
  std::string name_of(std::uint32_t id) const;
  bool named() const { return model_.text != nullptr; }

 private:
  const Model& model_;
  SimilarOf of_;
  std::size_t size_;
  std::unordered_map<std::string, std::uint32_t> features_;  // of text
};

}  // namespace slide
