#include "datasets/rows/csr_sink.h"

#include <memory>
#include <utility>

#include "engine/base/byte_io.h"
#include "engine/base/parallel.h"

namespace slide {

void MemorySink::start(const CsrCounts& total, int) {
  storage_ = CsrStorage();  // releases its memory first
  storage_ = CsrStorage(total);
}

CsrRoom MemorySink::open(const CsrCounts& before, const CsrCounts&, int) {
  return {storage_.feature_offsets.data() + before.rows + 1,
          storage_.feature_ids.data() + before.features,
          storage_.feature_values.data() + before.features,
          storage_.label_offsets.data() + before.rows + 1,
          storage_.label_ids.data() + before.labels,
          storage_.weights.data() + before.weights,
          storage_.dense.data() + before.dense};
}

void MemorySink::close(int) {}

Dataset MemorySink::take(const CsrSizes& sizes, const ReadOptions& options) {
  const auto dense = std::make_shared<const AlignedArray<float>>(std::move(storage_.dense));
  Dataset data = make_dataset(std::move(storage_), chosen_size(options.feature_limit, sizes.feature_count),
                              chosen_size(options.label_limit, sizes.label_count));
  if (sizes.dense_columns == 0) return data;
  const DenseMatrix matrix{bytes_of(dense->span()), DenseType::kFloat32, data.size(), sizes.dense_columns};
  return data.with_dense({dense, matrix, options.normalize, resolve_threads(options.threads), "features"});
}

}  // namespace slide
