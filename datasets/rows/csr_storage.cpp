#include "datasets/rows/csr_storage.h"

#include <memory>
#include <utility>

namespace slide {

CsrStorage::CsrStorage(const CsrCounts& counts)
    : feature_offsets(counts.rows + 1),
      feature_ids(counts.features),
      feature_values(counts.features),
      label_offsets(counts.rows + 1),
      label_ids(counts.labels),
      weights(counts.weights),
      dense(counts.dense) {}

Dataset make_dataset(CsrStorage storage, std::uint32_t feature_count, std::uint32_t label_count) {
  const auto owned = std::make_shared<const CsrStorage>(std::move(storage));
  const DatasetView view = {owned->feature_offsets.span(), owned->feature_ids.span(),
                            owned->feature_values.span(),  owned->label_offsets.span(),
                            owned->label_ids.span(),       owned->weights.span()};
  return Dataset(owned, view, feature_count, label_count);
}

}  // namespace slide
