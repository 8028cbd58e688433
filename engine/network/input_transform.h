// A transform of the rows that enter a network: the interface of feature crosses and idf factors
// (FeatureTransform in engine/crosses). It belongs to the model. Immutable, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "datasets/rows/dataset.h"
#include "engine/base/byte_io.h"

namespace slide {

class InputTransform {
 public:
  virtual ~InputTransform() = default;

  // Number of features that it adds; their ids follow the ids of the samples' own features.
  virtual std::size_t added() const = 0;
  // The row with its added features. Where there are any, ids and values are appended to `ids` and `values`;
  // the result is valid while these two do not reallocate.
  virtual SparseRow extended(const SparseRow& row, std::vector<std::uint32_t>& ids,
                             std::vector<float>& values) const = 0;

  // Whether the transform changes values.
  virtual bool scales() const = 0;
  // The row with its values as the network takes them, appended to `values`, likewise.
  virtual SparseRow scaled(const SparseRow& row, std::vector<float>& values) const = 0;

  // For checkpoints: writes what it learnt from the data, and returns the same transform with what it reads.
  // loaded() throws InputError for impossible values.
  virtual void save(ByteWriter& out) const = 0;
  virtual std::shared_ptr<const InputTransform> loaded(ByteReader& in) const = 0;
};

}  // namespace slide
