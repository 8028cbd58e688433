// The input transform of a network: feature crosses, then idf factors. Immutable, safe from any thread; the
// functions that set it are not.
#pragma once

#include <memory>
#include <utility>

#include "engine/crosses/feature_crosses.h"
#include "engine/network/input_transform.h"
#include "engine/network/network.h"
#include "engine/statistics/feature_scale.h"

namespace slide {

class FeatureTransform final : public InputTransform {
 public:
  FeatureTransform() = default;
  FeatureTransform(FeatureCrosses crosses, FeatureScale scale)
      : crosses_(std::move(crosses)), scale_(std::move(scale)) {}

  const FeatureCrosses& crosses() const { return crosses_; }
  const FeatureScale& scale() const { return scale_; }

  std::size_t added() const override { return crosses_.size(); }
  SparseRow extended(const SparseRow& row, std::vector<std::uint32_t>& ids,
                     std::vector<float>& values) const override {
    return crosses_.crossed(row, ids, values);
  }
  bool scales() const override { return scale_.active(); }
  SparseRow scaled(const SparseRow& row, std::vector<float>& values) const override {
    return scale_.scaled(row, values);
  }
  void save(ByteWriter& out) const override;
  std::shared_ptr<const InputTransform> loaded(ByteReader& in) const override;

 private:
  FeatureCrosses crosses_;
  FeatureScale scale_;
};

// The crosses and factors of a network; inactive ones where it has none.
const FeatureCrosses& crosses_of(const Network& network);
const FeatureScale& scale_of(const Network& network);
// Replace one of the two.
void set_crosses(Network& network, FeatureCrosses crosses);
void set_scale(Network& network, FeatureScale scale);

}  // namespace slide
