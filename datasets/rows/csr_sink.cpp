#include "datasets/rows/csr_sink.h"

#include <utility>

namespace slide {

void MemorySink::start(const CsrCounts& total, int) {
  storage_ = CsrStorage();  // releases its memory first
  storage_ = CsrStorage(total);
}

CsrRoom MemorySink::open(const CsrCounts& before, const CsrCounts&, int) {
  return {storage_.feature_offsets.data() + before.rows + 1, storage_.feature_ids.data() + before.features,
          storage_.feature_values.data() + before.features,  storage_.label_offsets.data() + before.rows + 1,
          storage_.label_ids.data() + before.labels,         storage_.weights.data() + before.weights};
}

void MemorySink::close(int) {}

Dataset MemorySink::take(const CsrSizes& sizes, const ReadOptions& options) {
  return make_dataset(std::move(storage_), chosen_size(options.feature_limit, sizes.feature_count),
                      chosen_size(options.label_limit, sizes.label_count));
}

}  // namespace slide
